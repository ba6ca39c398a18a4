// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.ConnectionRejected;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The peer rejected the connection. */
public final class ConnectionRejectedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final ConnectionRejected rejection;

    ConnectionRejectedException(String message, ConnectionRejected rejection, @Nullable Throwable cause) {
        super(Status.Code.ABORTED, message, null, cause);
        this.rejection = rejection;
    }

    /** What the peer said about it; may be empty. */
    public byte[] privateData() {
        return rejection.getPrivateData().toByteArray();
    }

    /** RDMA Reads that the peer serves at a time, if it said so. */
    public OptionalInt peerIrd() {
        return rejection.hasPeerIrd() ? OptionalInt.of(rejection.getPeerIrd()) : OptionalInt.empty();
    }

    /** RDMA Reads that the peer would have wanted us to serve at a time, if it said so. */
    public OptionalInt peerOrd() {
        return rejection.hasPeerOrd() ? OptionalInt.of(rejection.getPeerOrd()) : OptionalInt.empty();
    }
}
