// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** The peer's application rejected the connection. */
public final class ConnectionRejectedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final byte[] privateData;
    private final transient ReadDepths peerDepths;

    public ConnectionRejectedException(String message, byte[] privateData, ReadDepths peerDepths) {
        super(message);
        this.privateData = privateData.clone();
        this.peerDepths = peerDepths;
    }

    /** What the peer's application gave as reason. */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** What the peer would have needed, or served, of RDMA Reads. */
    public ReadDepths peerDepths() {
        return peerDepths;
    }
}
