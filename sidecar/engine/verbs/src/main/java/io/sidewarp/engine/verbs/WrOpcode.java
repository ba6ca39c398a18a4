// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Operations of a work request. */
public enum WrOpcode {
    /** RDMA Write (RFC 5040 section 5.1). */
    RDMA_WRITE,
    /** RDMA Read (RFC 5040 section 5.2). */
    RDMA_READ,
    /** Send (RFC 5040 section 5.3). Flags and {@link Wr#invalidateStag} select one of the four types. */
    SEND,
    /** Receive of a Send-type message or of Immediate Data. */
    RECEIVE,
    /** Immediate Data (RFC 7306 section 6): 8 bytes that arrive in the completion of a receive. */
    IMMEDIATE,
    /** RDMA Write followed by Immediate Data. */
    RDMA_WRITE_WITH_IMMEDIATE,
    /** Masked addition to 64 bits of the peer's memory. Returns the previous value (RFC 7306 section 5.1.1). */
    FETCH_ADD,
    /** Masked compare and swap of 64 bits of the peer's memory. Returns the previous value (RFC 7306 section 5.1.2). */
    COMPARE_SWAP,
    /** Invalidates the STag of a local region, in order with the work before and after. */
    LOCAL_INVALIDATE,
    /** Enables a local region with another key in its STag, in order with the work before and after. */
    ENABLE,
    /**
     * Completes when the peer's RDMA layer has placed all earlier Writes, Sends and Immediate Data of the queue pair. A
     * flush is an RDMA Read of no bytes after them (RFC 5040 sections 5.2.1 and 5.5 rule 12). Counts as one request
     * against the ORD.
     */
    FLUSH;

    /** True for the operations on a local region. The peer does not see these operations. */
    public boolean isLocal() {
        return this == LOCAL_INVALIDATE || this == ENABLE;
    }

    /** True for the operations that return the previous value of the peer's memory. */
    public boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }
}
