// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.Failure;
import io.sidewarp.client.Connection;

/** The client's end of pings. In each round, the peer reads the client's source and writes the client's sink. */
interface Pinger extends AutoCloseable {

    Connection connection();

    /**
     * Runs one round.
     *
     * @return nanoseconds from the offer of the memory until the peer reported that it has read and written
     * @throws Failure when the data that one side read, or the other side wrote, is wrong
     */
    long round(int round);

    @Override
    void close();
}
