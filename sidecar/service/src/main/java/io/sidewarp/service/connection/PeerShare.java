// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.quota.Grant;
import java.net.InetAddress;

/**
 * Quota that a connection takes once its peer is known: inbound RDMA Read Requests of its session, and the peer's own
 * quotas. Confined to the session's thread.
 */
final class PeerShare implements AutoCloseable {

    private final SessionContext context;
    private final int readRequests;
    private final Grant ofSession = new Grant();
    private Grant ofPeer = new Grant();
    private InetAddress peer;

    private PeerShare(SessionContext context, InetAddress peer, int readRequests) {
        this.context = context;
        this.peer = peer;
        this.readRequests = readRequests;
    }

    /**
     * Takes the share.
     *
     * @param readRequests maximum number of requests that the connection serves at a time
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond a limit; nothing is taken in that case
     */
    static PeerShare take(SessionContext context, InetAddress peer, int readRequests) {
        PeerShare share = new PeerShare(context, peer, readRequests);
        try {
            share.ofSession.take(context.quotas().readRequests(), readRequests);
            context.peers().take(peer, readRequests, share.ofPeer);
        } catch (RuntimeException | Error e) {
            share.close();
            throw e;
        }
        return share;
    }

    /**
     * Moves the share to another address of the peer.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED if that address is at its limit; nothing changes in
     *     that case
     */
    void moveTo(InetAddress reached) {
        if (reached.equals(peer)) {
            return;
        }
        Grant other = new Grant();
        context.peers().take(reached, readRequests, other);
        ofPeer.close();
        ofPeer = other;
        peer = reached;
    }

    /** Gives everything back. Idempotent. */
    @Override
    public void close() {
        ofSession.close();
        ofPeer.close();
    }
}
