// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** A subscription to events, which ends when it is closed. */
public interface Subscription extends AutoCloseable {

    @Override
    void close();
}
