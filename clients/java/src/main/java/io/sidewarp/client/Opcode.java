// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Operation of a completed work request. */
public enum Opcode {
    WRITE,
    READ,
    SEND,
    RECEIVE,
    IMMEDIATE,
    WRITE_WITH_IMMEDIATE,
    FETCH_ADD,
    COMPARE_SWAP,
    LOCAL_INVALIDATE,
    ENABLE,
    FLUSH,
    /** Operation that a newer sidecar knows and this client does not. */
    UNKNOWN;

    private static final Opcode[] CONSTANTS = values();

    static Opcode ofNumber(int number) {
        return Protos.ofNumber(CONSTANTS, number, UNKNOWN);
    }

    /** Returns the number in the contract; 0 for {@link #UNKNOWN}. */
    int number() {
        return this == UNKNOWN ? 0 : Protos.number(this);
    }
}
