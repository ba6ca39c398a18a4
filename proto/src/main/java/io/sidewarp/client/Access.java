// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Access rights of a memory region. Without any, only local reading is permitted: the source of Writes and Sends. */
public enum Access {
    /** Receives and the sinks of local RDMA Reads may be placed here. */
    LOCAL_WRITE(io.sidewarp.v1.Access.ACCESS_LOCAL_WRITE),
    /** A peer may read this region with RDMA Read. */
    REMOTE_READ(io.sidewarp.v1.Access.ACCESS_REMOTE_READ),
    /** A peer may write this region with RDMA Write. */
    REMOTE_WRITE(io.sidewarp.v1.Access.ACCESS_REMOTE_WRITE),
    /**
     * A peer may invalidate the region's STag with Send with Invalidate. Needs a region that only one connection may
     * use (RFC 5040 section 8.1.1).
     */
    REMOTE_INVALIDATE(io.sidewarp.v1.Access.ACCESS_REMOTE_INVALIDATE),
    /** A peer may apply atomic operations to this region. */
    REMOTE_ATOMIC(io.sidewarp.v1.Access.ACCESS_REMOTE_ATOMIC);

    private final io.sidewarp.v1.Access proto;

    Access(io.sidewarp.v1.Access proto) {
        this.proto = proto;
    }

    io.sidewarp.v1.Access toProto() {
        return proto;
    }
}
