// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.PeerRejectedException;
import java.util.Locale;

/** Reasons why a connection did not reach full operation. */
public enum StartupFailure {
    REJECTED,
    UNREACHABLE,
    TIMEOUT,
    PROTOCOL,
    /** This side or the peer did not permit the other side. */
    SECURITY,
    INVALID_PARAMETERS,
    ABORTED,
    /** No valid connection request came in time. */
    STARTUP,
    /** Too many connections existed already. */
    LIMIT,
    INTERNAL;

    /** Returns the reason for the failure of a connection that an application requested or accepted. */
    public static StartupFailure of(Throwable cause) {
        return switch (cause) {
            case PeerRejectedException rejected -> REJECTED;
            case ConnectionFailedException failed ->
                switch (failed.kind()) {
                    case REFUSED, UNREACHABLE, NO_ANSWER -> UNREACHABLE;
                    case TIMEOUT -> TIMEOUT;
                    case PROTOCOL -> PROTOCOL;
                    case SECURITY -> SECURITY;
                    case INVALID_PARAMETERS -> INVALID_PARAMETERS;
                    case ABORTED, LAPSED -> ABORTED;
                    case LIMIT, INTERNAL -> INTERNAL;
                };
            default -> INTERNAL;
        };
    }

    /**
     * Returns whether this failure can happen in a role. {@link #STARTUP} and {@link #LIMIT} happen to the accepting
     * side only.
     */
    boolean concerns(boolean initiator) {
        return !initiator || (this != STARTUP && this != LIMIT);
    }

    /** Returns the label of the metric. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
