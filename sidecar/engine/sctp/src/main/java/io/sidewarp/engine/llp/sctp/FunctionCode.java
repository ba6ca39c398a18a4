// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.Nullable;

/** Function Code of a DDP Stream Session Control message (RFC 5043 section 5.2.3, RFC 6581 section 7). */
enum FunctionCode {
    INITIATE(0x0001),
    ACCEPT(0x0002),
    REJECT(0x0003),
    TERMINATE(0x0004),
    ENHANCED_INITIATE(0x0005),
    ENHANCED_ACCEPT(0x0006),
    ENHANCED_REJECT(0x0007);

    private static final FunctionCode[] CODES = values();

    private final int value;

    FunctionCode(int value) {
        this.value = value;
    }

    /** Returns the code with this value on the wire, or null if no code has the value. */
    static @Nullable FunctionCode of(int value) {
        return value >= 1 && value <= CODES.length ? CODES[value - 1] : null;
    }

    int value() {
        return value;
    }

    /** Returns whether the Private Data begins with depths and connection model. */
    boolean isEnhanced() {
        return this == ENHANCED_INITIATE || this == ENHANCED_ACCEPT || this == ENHANCED_REJECT;
    }

    boolean isInitiate() {
        return this == INITIATE || this == ENHANCED_INITIATE;
    }

    boolean isAccept() {
        return this == ACCEPT || this == ENHANCED_ACCEPT;
    }

    boolean isReject() {
        return this == REJECT || this == ENHANCED_REJECT;
    }
}
