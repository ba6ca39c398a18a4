// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** When the same request may succeed. docs/errors.md has the table of errors, statuses and this. */
public enum Retry {
    /** Not as it is: something in it, or at the peer, has to be changed first. */
    NEVER,
    /** On a new connection, or in a new session where the session is gone. */
    AFTER_RECONNECTING,
    /** Later, as it is. */
    LATER;

    static Retry of(io.sidewarp.v1.Retry proto) {
        return switch (proto) {
            case RETRY_AFTER_RECONNECTING -> AFTER_RECONNECTING;
            case RETRY_LATER -> LATER;
            case RETRY_NEVER, RETRY_UNSPECIFIED, UNRECOGNIZED -> NEVER;
        };
    }
}
