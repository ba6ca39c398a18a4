// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** How the work requests of a queue reach the sidecar. */
public enum QueuePath {
    /**
     * {@link #RINGS} where they are possible, else {@link #GRPC}. The log tells why: at level WARNING when the shared volume or a
     * quota has no space for rings, else at level DEBUG.
     */
    ANY,
    /**
     * Rings in memory that this process and the sidecar share. Needs the sidecar's Unix socket, and the shared volume in this
     * process.
     */
    RINGS,
    /** One call of the gRPC API. */
    GRPC
}
