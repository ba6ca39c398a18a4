// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Path of a queue's work requests to the sidecar. */
public enum QueuePath {
    /**
     * Uses {@link #RINGS} if they are possible, else {@link #GRPC}. The log has the reason for gRPC: at level WARNING
     * if the shared volume or a quota has no space for rings, else at level DEBUG.
     */
    ANY,
    /**
     * Uses rings in memory that this process and the sidecar share. Needs the sidecar's Unix socket, and the shared
     * volume in this process.
     */
    RINGS,
    /** Uses one call of the gRPC API. */
    GRPC
}
