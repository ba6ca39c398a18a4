// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/** The peer rejected the connection. */
public final class ConnectionRejectedException extends SidewarpException {

    private static final long serialVersionUID = 1;

    private final byte[] privateData;

    public ConnectionRejectedException(String message, byte[] privateData, @Nullable Throwable cause) {
        super(Status.Code.ABORTED, message, null, cause);
        this.privateData = privateData.clone();
    }

    /** What the peer said about it; may be empty. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
