// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Thrown when a connection cannot be set up. The kind tells where to look, the message tells what to do. */
public final class ConnectionFailedException extends Exception {

    private static final long serialVersionUID = 1L;

    /** Cause of the failure. */
    public enum Kind {
        /** The host at the address refused, mostly because no process listens there. */
        REFUSED,
        /** The address cannot be reached, for example without a route. */
        UNREACHABLE,
        /** The address did not answer in the time for that. */
        NO_ANSWER,
        /** Start-up did not complete in time. */
        TIMEOUT,
        /** The peer closed the connection or broke the rules of start-up. */
        PROTOCOL,
        /** One side does not permit the other side: no TLS, or a certificate or identity that is not accepted. */
        SECURITY,
        /** The connection request has lapsed or already has an answer. */
        LAPSED,
        /** The parameters are not valid for this device. */
        INVALID_PARAMETERS,
        /** This side aborted the connection. */
        ABORTED,
        /** This side has started as many SCTP associations as it may. */
        LIMIT,
        /** This side has an internal error. */
        INTERNAL;

        /** Returns whether no peer was reached, so that another address of the peer may be tried. */
        public boolean isUnreached() {
            return this == REFUSED || this == UNREACHABLE || this == NO_ANSWER;
        }
    }

    private final Kind kind;
    private final @Nullable LlpError error;

    private ConnectionFailedException(Kind kind, String message, @Nullable LlpError error, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.error = error;
    }

    public ConnectionFailedException(Kind kind, String message, @Nullable Throwable cause) {
        this(kind, message, null, cause);
    }

    public ConnectionFailedException(Kind kind, String message) {
        this(kind, message, null, null);
    }

    /** Creates the failure of a peer that broke the rules of start-up. */
    public ConnectionFailedException(LlpError error, String message) {
        this(Kind.PROTOCOL, message, error, null);
    }

    public Kind kind() {
        return kind;
    }

    /**
     * Returns the error in the peer's start-up. Empty for other failures, and when the peer just closed the connection.
     */
    public Optional<LlpError> error() {
        return Optional.ofNullable(error);
    }
}
