// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.Failure;
import io.sidewarp.client.Connection;

/** The client's end of pings: each round it has its source read and its sink written by the peer. */
interface Pinger extends AutoCloseable {

    Connection connection();

    /**
     * One round.
     *
     * @return its nanoseconds, from the offer of the memory until the peer said that it has read and written
     * @throws Failure when what one side read or the other was written is wrong
     */
    long round(int round);

    @Override
    void close();
}
