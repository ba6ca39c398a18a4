// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Quotas of the connections to one remote address, over all sessions. They prevent one peer from taking resources that
 * others need (RFC 5042 sections 6.4.1 and 6.4.3). Thread-safe.
 */
public final class PeerQuotas {

    private static final String CONNECTIONS = "sidewarp.limits.peer-connections";
    private static final String READ_REQUESTS = "sidewarp.limits.peer-read-requests";

    private final int maxConnections;
    private final long maxReadRequests;
    private final QuotaRefusals refusals;
    private final Map<InetAddress, Use> uses = new ConcurrentHashMap<>();

    /**
     * @param maxConnections maximum number of connections to one address
     * @param maxReadRequests maximum number of inbound RDMA Read Requests of all connections to one address
     * @param refusals counts refusals
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
     * @param readRequests inbound RDMA Read Requests to reserve for the connection
     * @param into grant that releases the connection
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond a limit; nothing is taken in that case
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

    /** Returns whether the peer has the maximum number of connections. */
    public boolean isFull(InetAddress peer) {
        Use use = uses.get(peer);
        return use != null && use.connections.used() >= use.connections.limit();
    }

    /** Returns the number of peers that have connections. */
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
