// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link ConnectionTraffic} of a session's connections. Thread-safe.
 *
 * <p>Completions and events may come before the answer of a connection's set-up call, and after the connection's end.
 * Therefore the last few unknown connections are kept.
 */
final class SessionTraffic {

    private static final int UNKNOWN = 256;

    private final Transport transport;
    private final Map<Long, ConnectionTraffic> known = new ConcurrentHashMap<>();

    /** Guarded by this object. */
    private final Map<Long, ConnectionTraffic> unknown = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, ConnectionTraffic> eldest) {
            return size() > UNKNOWN;
        }
    };

    SessionTraffic(Transport transport) {
        this.transport = transport;
    }

    ConnectionTraffic of(long connection) {
        ConnectionTraffic found = known.get(connection);
        return found == null ? ofUnknown(connection) : found;
    }

    private synchronized ConnectionTraffic ofUnknown(long connection) {
        ConnectionTraffic found = known.get(connection);
        return found == null ? unknown.computeIfAbsent(connection, id -> new ConnectionTraffic(id, transport)) : found;
    }

    /** Makes a connection known. */
    synchronized ConnectionTraffic adopt(long connection) {
        ConnectionTraffic traffic = ofUnknown(connection);
        unknown.remove(connection);
        known.put(connection, traffic);
        return traffic;
    }

    /** Forgets a connection that has ended. */
    void forget(long connection) {
        known.remove(connection);
    }

    /** Runs all events that wait for completions. Runs on the event loop. */
    void releaseAll() {
        known.values().forEach(ConnectionTraffic::releaseAll);
    }
}
