// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import org.jspecify.annotations.Nullable;

/**
 * A cache of the {@link ConnectionTraffic} of recently used connections, which allocates nothing on a hit. Thread-safe:
 * threads that look up the same connection find the same object.
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
