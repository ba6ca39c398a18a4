// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Access rights of a memory region. Without any right, only local reading is permitted, as the source of Writes and
 * Sends.
 */
public enum Access {
    /** Allows receives, and the results of local RDMA Reads, to be placed into the region. */
    LOCAL_WRITE,
    /** Allows a peer to read the region with RDMA Read. */
    REMOTE_READ,
    /** Allows a peer to write the region with RDMA Write. */
    REMOTE_WRITE,
    /**
     * Allows a peer to invalidate the region's STag with Send with Invalidate. Needs a region that only one connection
     * may use (RFC 5040 section 8.1.1).
     */
    REMOTE_INVALIDATE,
    /** Allows a peer to apply atomic operations to the region. */
    REMOTE_ATOMIC
}
