// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.ConnectionRejected;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Rejection of a connection by the peer. */
public final class ConnectionRejectedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final ConnectionRejected rejection;

    ConnectionRejectedException(String message, ConnectionRejected rejection, @Nullable Throwable cause) {
        super(Status.Code.ABORTED, message, null, cause);
        this.rejection = rejection;
    }

    /** Returns the peer's private data about the rejection; may be empty. */
    public byte[] privateData() {
        return rejection.getPrivateData().toByteArray();
    }

    /** Returns the RDMA Reads that the peer serves at a time, if the peer announced them. */
    public OptionalInt peerIrd() {
        return Descriptions.optional(rejection.hasPeerIrd(), rejection.getPeerIrd());
    }

    /** Returns the RDMA Reads that the peer wanted this side to serve at a time, if the peer announced them. */
    public OptionalInt peerOrd() {
        return Descriptions.optional(rejection.hasPeerOrd(), rejection.getPeerOrd());
    }
}
