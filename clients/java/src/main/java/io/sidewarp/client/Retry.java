// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Time at which the same request may succeed. The table in docs/errors.md lists each error with its status and this
 * value.
 */
public enum Retry {
    /** Never without a change: something in the request, or at the peer, must be changed first. */
    NEVER,
    /** On a new connection, or in a new session if the session is gone. */
    AFTER_RECONNECTING,
    /** Later, without a change. */
    LATER;

    private static final Retry[] CONSTANTS = values();

    static Retry ofNumber(int number) {
        return Protos.ofNumber(CONSTANTS, number, NEVER);
    }
}
