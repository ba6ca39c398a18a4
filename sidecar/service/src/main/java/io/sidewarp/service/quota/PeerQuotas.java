// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the connections with one remote address may use together, over all sessions: one peer cannot take what others
 * need (RFC 5042 sections 6.4.1 and 6.4.3). Thread-safe.
 */
public final class PeerQuotas {

    private static final String CONNECTIONS = "sidewarp.limits.peer-connections";
    private static final String READ_REQUESTS = "sidewarp.limits.peer-read-requests";

    private final int maxConnections;
    private final long maxReadRequests;
    private final QuotaRefusals refusals;
    private final Map<InetAddress, Use> uses = new ConcurrentHashMap<>();

    /**
     * @param maxConnections with one address
     * @param maxReadRequests inbound ones, of all connections with one address
     * @param refusals counts what is refused
     */
    public PeerQuotas(int maxConnections, long maxReadRequests, QuotaRefusals refusals) {
        this.maxConnections = maxConnections;
        this.maxReadRequests = maxReadRequests;
        this.refusals = refusals;
        refusals.expect(CONNECTIONS);
        refusals.expect(READ_REQUESTS);
    }

    private record Use(Quota connections, Quota readRequests) {}

    /**
     * Takes one connection.
     *
     * @param readRequests inbound RDMA Read Requests that are reserved for it
     * @param into gives it back
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; nothing is taken then
     */
    public void take(InetAddress peer, int readRequests, Grant into) {
        into.take(() -> take(peer, readRequests), () -> give(peer, readRequests));
    }

    private void take(InetAddress peer, int readRequests) {
        uses.compute(peer, (address, known) -> {
            Use use = known == null ? newUse() : known;
            use.connections.take(1);
            try {
                use.readRequests.take(readRequests);
            } catch (RuntimeException | Error e) {
                use.connections.give(1);
                throw e;
            }
            return use;
        });
    }

    /** Whether the peer has all the connections that it may have. */
    public boolean isFull(InetAddress peer) {
        Use use = uses.get(peer);
        return use != null && use.connections.used() >= use.connections.limit();
    }

    /** Peers that have connections. */
    public int count() {
        return uses.size();
    }

    private void give(InetAddress peer, int readRequests) {
        uses.computeIfPresent(peer, (address, use) -> {
            use.connections.give(1);
            use.readRequests.give(readRequests);
            return use.connections.used() == 0 ? null : use;
        });
    }

    private Use newUse() {
        return new Use(
                new Quota("connections with a peer", CONNECTIONS, maxConnections, refusals),
                new Quota("inbound RDMA Read Requests of a peer", READ_REQUESTS, maxReadRequests, refusals));
    }
}
