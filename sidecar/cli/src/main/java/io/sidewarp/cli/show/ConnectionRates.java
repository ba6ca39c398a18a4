// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.ConnectionInfo.Counters;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rates of connections between two listings, from their counters. */
final class ConnectionRates {

    private static final Counters ZERO = new Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    private static final Comparator<Rated> BY_RATE = Comparator.comparingDouble(
                    (Rated rated) -> rated.bitsSent + rated.bitsReceived)
            .thenComparingDouble(rated -> rated.messagesSent + rated.messagesReceived)
            .reversed()
            .thenComparingLong(rated -> rated.connection.id());

    private @Nullable Map<Key, Counters> previous;
    private long previousNanos;

    /** Identifies a connection. A sidecar that has restarted may give an id to another connection. */
    private record Key(long id, int localPort, String remoteAddress, int remotePort) {}

    /**
     * A connection with its rates per second. They are not a number (NaN) after the first listing.
     *
     * @param messagesSent RDMA messages that this side began
     * @param messagesReceived RDMA messages that the peer began
     */
    record Rated(
            ConnectionInfo connection,
            double bitsSent,
            double bitsReceived,
            double messagesSent,
            double messagesReceived) {}

    /**
     * Takes a listing. Returns its connections, the fastest first.
     *
     * @param nanos time of the listing
     */
    List<Rated> update(List<ConnectionInfo> connections, long nanos) {
        Map<Key, Counters> before = previous;
        double seconds = (nanos - previousNanos) / 1e9;
        Map<Key, Counters> latest = new HashMap<>();
        connections.forEach(connection -> latest.put(key(connection), connection.counters()));
        previous = latest;
        previousNanos = nanos;
        return connections.stream()
                .map(connection -> before == null
                        ? rated(connection, ZERO, Double.NaN)
                        : rated(connection, before.getOrDefault(key(connection), ZERO), seconds))
                .sorted(BY_RATE)
                .toList();
    }

    private static Rated rated(ConnectionInfo connection, Counters old, double seconds) {
        Counters now = connection.counters();
        // Counters that are lower than before belong to a new connection.
        boolean isNew = now.bytesSent() < old.bytesSent() || now.bytesReceived() < old.bytesReceived();
        Counters base = isNew ? ZERO : old;
        return new Rated(
                connection,
                8 * (now.bytesSent() - base.bytesSent()) / seconds,
                8 * (now.bytesReceived() - base.bytesReceived()) / seconds,
                (sent(now) - sent(base)) / seconds,
                (received(now) - received(base)) / seconds);
    }

    private static long sent(Counters counters) {
        return counters.writesSent()
                + counters.readsSent()
                + counters.sendsSent()
                + counters.immediatesSent()
                + counters.atomicsSent();
    }

    private static long received(Counters counters) {
        return counters.writesReceived()
                + counters.readsServed()
                + counters.sendsReceived()
                + counters.immediatesReceived()
                + counters.atomicsServed();
    }

    private static Key key(ConnectionInfo connection) {
        return new Key(connection.id(), connection.localPort(), connection.remoteAddress(), connection.remotePort());
    }
}
