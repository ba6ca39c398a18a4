// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** The peer's application rejected the connection. */
public final class ConnectionRejectedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    public ConnectionRejectedException(String message, byte[] privateData) {
        super(message);
        this.privateData = privateData.clone();
    }

    /** What the peer's application gave as reason. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
