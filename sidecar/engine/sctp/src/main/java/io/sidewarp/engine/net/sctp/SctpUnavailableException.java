// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/** Thrown when this machine lacks what SCTP needs. The message says what to install. */
public final class SctpUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SctpUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
