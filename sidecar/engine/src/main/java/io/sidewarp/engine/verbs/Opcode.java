// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Operations of a work request. */
public enum Opcode {
    /** RDMA Write (RFC 5040 section 5.1). */
    RDMA_WRITE,
    /** RDMA Read (RFC 5040 section 5.2). */
    RDMA_READ,
    /** Send (RFC 5040 section 5.3); flags and {@link WorkRequest#invalidateStag} choose among the four types. */
    SEND,
    /** Receive of a Send-type message or of Immediate Data. */
    RECEIVE,
    /** Immediate Data (RFC 7306 section 6): 8 bytes that arrive in the completion of a receive. */
    IMMEDIATE,
    /** RDMA Write, and Immediate Data behind it. */
    RDMA_WRITE_WITH_IMMEDIATE,
    /** Masked addition to 64 bits of the peer's memory, which returns the value before (RFC 7306 section 5.1.1). */
    FETCH_ADD,
    /** Masked compare and swap of 64 bits of the peer's memory, which returns the value before (section 5.1.2). */
    COMPARE_SWAP,
    /** Takes the STag of a local region out of use, in order with the work before and behind it. */
    LOCAL_INVALIDATE,
    /** Gives a local region an STag with another key and puts it into use, in order as well. */
    ENABLE,
    /**
     * Completes when the peer's RDMA layer has placed all earlier Writes, Sends and Immediate Data of the queue pair: an RDMA
     * Read of no bytes behind them (RFC 5040 sections 5.2.1 and 5.5 rule 12). Takes one of the ORD.
     */
    FLUSH;

    /** True for the operations on a local region that the peer does not see. */
    public boolean isLocal() {
        return this == LOCAL_INVALIDATE || this == ENABLE;
    }

    /** True for the operations that return the value which they found. */
    public boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }
}
