// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PatternTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 63, 1000})
    void findsItselfRightForAnyLength(int length) {
        MemorySegment memory = MemorySegment.ofArray(new byte[length]);
        Pattern.fill(memory, 42);
        assertThat(Pattern.firstDifference(memory, 42)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 7, 8, 500, 992, 996})
    void findsTheFirstWrongOctet(long position) {
        MemorySegment memory = MemorySegment.ofArray(new byte[997]);
        Pattern.fill(memory, 42);
        memory.set(ValueLayout.JAVA_BYTE, position, (byte) ~memory.get(ValueLayout.JAVA_BYTE, position));
        assertThat(Pattern.firstDifference(memory, 42)).isEqualTo(position);
    }

    @ParameterizedTest
    @ValueSource(longs = {8, 4096})
    void isTheSameInOnePieceAndInTwo(long cut) {
        MemorySegment whole = MemorySegment.ofArray(new byte[5001]);
        Pattern.fill(whole, 7);
        MemorySegment pieces = MemorySegment.ofArray(new byte[5001]);
        Pattern.fill(pieces.asSlice(0, cut), 7, 0);
        Pattern.fill(pieces.asSlice(cut), 7, cut);
        assertThat(pieces.mismatch(whole)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 43, -43})
    void isAnotherOneForAnotherSeed(long seed) {
        MemorySegment memory = MemorySegment.ofArray(new byte[64]);
        Pattern.fill(memory, seed);
        assertThat(Pattern.firstDifference(memory, 42)).isBetween(0L, 7L);
    }
}
