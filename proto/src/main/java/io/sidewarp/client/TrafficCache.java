// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import org.jspecify.annotations.Nullable;

/**
 * Finds the {@link ConnectionTraffic} of a connection without objects, for connections that were asked for lately.
 * Thread-safe: a thread that does not see what another one has found finds the same.
 */
final class TrafficCache {

    private static final int PLACES = 256;

    private final SessionTraffic traffic;
    private final @Nullable ConnectionTraffic[] found = new ConnectionTraffic[PLACES];

    TrafficCache(SessionTraffic traffic) {
        this.traffic = traffic;
    }

    ConnectionTraffic of(long connection) {
        int place = (int) connection & PLACES - 1;
        ConnectionTraffic cached = found[place];
        if (cached == null || cached.connection() != connection) {
            cached = traffic.of(connection);
            found[place] = cached;
        }
        return cached;
    }
}
