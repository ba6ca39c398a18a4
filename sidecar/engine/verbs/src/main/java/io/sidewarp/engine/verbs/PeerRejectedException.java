// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Thrown when the peer's application rejected the connection. */
public final class PeerRejectedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final byte[] privateData;
    private final transient ReadDepths peerDepths;

    public PeerRejectedException(String message, byte[] privateData, ReadDepths peerDepths) {
        super(message);
        this.privateData = privateData.clone();
        this.peerDepths = peerDepths;
    }

    /** Returns the private data of the rejection, which states the reason of the peer's application. */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** Returns the IRD and ORD that the peer stated with its rejection: the depths that it needs or serves. */
    public ReadDepths peerDepths() {
        return peerDepths;
    }
}
