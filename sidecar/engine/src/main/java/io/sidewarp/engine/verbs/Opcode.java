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
    /** Receive of a Send-type message. */
    RECEIVE
}
