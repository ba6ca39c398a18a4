// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.function.IntBinaryOperator;

/** Received bytes, cut into portions, between guard bytes that must not change. */
final class InputWire {

    private static final int GUARD = 16;
    private static final int CAPACITY = 128 * 1024;
    private static final byte PATTERN = 0x5A;

    private static final WireBuffer BUFFER = WireBuffer.allocate(CAPACITY);

    private InputWire() {}

    /**
     * Hands octets over.
     *
     * @param piece octets of a portion, 0 for all at once
     * @param receiver takes a portion by offset and length in {@link #buffer()}, returns how many octets it took
     */
    static void deliver(byte[] octets, int piece, IntBinaryOperator receiver) {
        int portion = piece == 0 ? CAPACITY - 2 * GUARD : piece;
        for (int at = 0; at < octets.length; at += portion) {
            int length = Math.min(portion, octets.length - at);
            BUFFER.segment().asSlice(0, GUARD).fill(PATTERN);
            BUFFER.segment().asSlice(GUARD + length, GUARD).fill(PATTERN);
            BUFFER.putBytes(GUARD, octets, at, length);
            int taken = receiver.applyAsInt(GUARD, length);
            Violation.unless(taken >= 0 && taken <= length, "took " + taken + " of " + length + " octets");
            verifyGuard(0);
            verifyGuard(GUARD + length);
        }
    }

    static WireBuffer buffer() {
        return BUFFER;
    }

    private static void verifyGuard(int offset) {
        for (int i = 0; i < GUARD; i++) {
            Violation.unless(
                    BUFFER.getUnsignedByte(offset + i) == PATTERN, "the input was changed outside of a portion");
        }
    }
}
