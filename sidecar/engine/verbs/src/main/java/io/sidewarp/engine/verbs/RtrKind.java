// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Kinds of message by which an initiator tells that it is ready to receive, in the peer-to-peer model (RFC 6581 section
 * 9.2). These messages have no payload and no completion.
 */
public enum RtrKind {
    /** Zero-length Send: control flag B. */
    SEND,
    /** Zero-length RDMA Write: control flag C. */
    WRITE,
    /** Zero-length RDMA Read: control flag D. Needs room for one inbound read at the responder. */
    READ
}
