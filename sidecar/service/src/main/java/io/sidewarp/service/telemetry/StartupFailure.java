// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionRejectedException;
import java.util.Locale;

/** Why a connection did not reach full operation. */
public enum StartupFailure {
    REJECTED,
    UNREACHABLE,
    TIMEOUT,
    PROTOCOL,
    INVALID_PARAMETERS,
    ABORTED,
    /** Nothing that could be a connection request came, or not in time. */
    STARTUP,
    /** There were too many before it. */
    LIMIT,
    INTERNAL;

    /** Why one failed that an application wanted. */
    public static StartupFailure of(Throwable cause) {
        return switch (cause) {
            case ConnectionRejectedException rejected -> REJECTED;
            case ConnectionFailedException failed ->
                switch (failed.kind()) {
                    case UNREACHABLE -> UNREACHABLE;
                    case TIMEOUT -> TIMEOUT;
                    case PROTOCOL -> PROTOCOL;
                    case INVALID_PARAMETERS -> INVALID_PARAMETERS;
                    case ABORTED, LAPSED -> ABORTED;
                    case LIMIT, INTERNAL -> INTERNAL;
                };
            default -> INTERNAL;
        };
    }

    /** Whether it may happen to this side, which then asks for connections, or is asked. */
    boolean concerns(boolean initiator) {
        return !initiator || (this != STARTUP && this != LIMIT);
    }

    /** As the label of a metric. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
