// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.llp.LlpError;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A connection could not be set up. The kind says where to look, the message says what to do. */
public final class ConnectionFailedException extends Exception {

    private static final long serialVersionUID = 1L;

    /** Where it failed. */
    public enum Kind {
        /** Nobody listens there, or the network refused. */
        UNREACHABLE,
        /** The time for start-up was over. */
        TIMEOUT,
        /** The peer closed or broke the rules of start-up. */
        PROTOCOL,
        /** The connection request has lapsed, or was answered before. */
        LAPSED,
        /** The parameters are not possible here. */
        INVALID_PARAMETERS,
        /** This side ended it. */
        ABORTED,
        /** This side has begun as many SCTP associations as it may. */
        LIMIT,
        /** This side is at fault. */
        INTERNAL
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

    /** The peer broke the rules of start-up. */
    public ConnectionFailedException(LlpError error, String message) {
        this(Kind.PROTOCOL, message, error, null);
    }

    public Kind kind() {
        return kind;
    }

    /** What was wrong with the peer's start-up; empty when that was not it, or when the peer only went away. */
    public Optional<LlpError> error() {
        return Optional.ofNullable(error);
    }
}
