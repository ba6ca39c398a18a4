// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.pattern;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Immediate Data and atomic operations (RFC 7306), over any lower layer with headers of version 1. */
abstract class ExtensionSuite extends PairSuite {

    ExtensionSuite(Link.Type type) {
        super(type);
    }

    @Test
    @Requirement({"EXT-6.3-01", "EXT-4.1-01"})
    void immediateDataArrivesInEitherDirectionInOrderWithSends() {
        for (Side side : Side.values()) {
            Endpoint from = side == Side.LEFT ? left() : right();
            Endpoint to = side == Side.LEFT ? right() : left();
            for (int i = 1; i <= 4; i++) {
                to.receive(i).with(to.region(8)).post();
            }

            from.immediate(1, Long.MIN_VALUE + 5).post();
            from.send(2).with(from.region(3)).post();
            from.immediate(3, -2).solicited().post();
            from.send(4).post();
            pair().run();

            assertThat(to.completions().receiveIds()).containsExactly(1L, 2L, 3L, 4L);
            assertThat(to.completions().receives())
                    .extracting(Completion::opcode)
                    .containsExactly(
                            RdmapControl.IMMEDIATE,
                            RdmapControl.SEND,
                            RdmapControl.IMMEDIATE_WITH_SE,
                            RdmapControl.SEND);
            assertThat(to.completions().receiveResults()).containsExactly(Long.MIN_VALUE + 5, 0L, -2L, 0L);
            assertAllSucceeded(from);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5000, SIZE})
    @Requirement("EXT-6.3-01")
    void theImmediateDataOfAWriteTellsThatTheWriteIsThere(int length) {
        byte[] data = pattern(length, 9);
        MemoryRegion target = right().region(SIZE);
        MemoryRegion source = left().region(SIZE);
        TestMemory.put(source, 0, data);
        right().receive(3).post();
        right().completions().onEachCompletion(() -> assertSame(target, Arrays.copyOf(data, SIZE)));

        left().write(1)
                .with(source, 0, length)
                .remote(target)
                .immediate(0xABCDEFL)
                .post();
        pair().run();

        assertThat(right().completions().receiveResults()).containsExactly(0xABCDEFL);
        assertThat(left().completions().sends()).extracting(Completion::length).containsExactly((long) length);
        assertAllSucceeded(left());
    }

    @Test
    @Requirement({"EXT-5.2.2-01", "EXT-5.1.1-01", "EXT-5.1.2-01", "EXT-5.2.2-02"})
    void atomicOperationsReturnWhatTheyFoundAndChangeTheWord() {
        MemoryRegion word = right().region(16);
        MemoryRegion found = left().region(16);
        TestMemory.putWord(word, 8, 40);

        left().fetchAdd(1, 2).with(found, 0, 8).remote(word.stag(), 8).post();
        left().compareSwap(2, 41, 7).with(found, 8, 8).remote(word.stag(), 8).post();
        left().compareSwap(3, 42, 7).remote(word.stag(), 8).post();
        left().fetchAdd(4, -7).remote(word.stag(), 8).post();
        pair().run();

        assertThat(left().completions().sendResults()).containsExactly(40L, 42L, 42L, 7L);
        assertThat(TestMemory.getWord(found, 0)).isEqualTo(40);
        assertThat(TestMemory.getWord(found, 8)).isEqualTo(42);
        assertThat(TestMemory.getWord(word, 8)).isZero();
        assertThat(TestMemory.getWord(word, 0)).isZero();
        assertAllSucceeded(left());
        assertThat(right().completions().isEmpty()).isTrue();
    }

    @Test
    @Requirement("EXT-5.2.2-02")
    void manyReadsAndAtomicOperationsOfBothSidesCompleteInOrder() {
        MemoryRegion leftWord = left().region(8);
        MemoryRegion rightWord = right().region(8);
        MemoryRegion sink = left().region(8);
        for (int i = 0; i < 60; i++) {
            if (i % 3 == 0) {
                left().read(i).with(sink).remote(rightWord).post();
            } else {
                left().fetchAdd(i, 1).remote(rightWord).post();
            }
            right().fetchAdd(i, 3).remote(leftWord).post();
        }

        pair().run();

        assertThat(left().completions().sendIds()).isSorted().hasSize(60);
        assertThat(right().completions().sendIds()).isSorted().hasSize(60);
        assertThat(right().completions().sendResults())
                .isEqualTo(LongStream.range(0, 60).mapToObj(i -> 3 * i).toList());
        assertThat(TestMemory.getWord(rightWord, 0)).isEqualTo(40);
        assertThat(TestMemory.getWord(leftWord, 0)).isEqualTo(180);
        assertAllSucceeded(left());
        assertAllSucceeded(right());
    }

    @Test
    @Requirement("EXT-8-01")
    void anAtomicOperationWithoutTheRightEndsBothSidesAndFailsTheOperation() {
        MemoryRegion word = right().memory().region(8, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE);

        left().fetchAdd(1, 1).remote(word).post();
        left().send(2).post();
        pair().run();

        assertErrorOnBothSides(0, 1, 2);
        assertThat(left().completions().sendStatuses())
                .containsExactly(CqeStatus.REMOTE_ACCESS_ERROR, CqeStatus.FLUSHED);
        assertThat(TestMemory.get(word)).containsOnly(0);
    }

    @Test
    @Requirement({"EXT-5.1-01", "EXT-8-01"})
    void anAtomicOperationThatIsNotAlignedEndsBothSidesAndChangesNothing() {
        MemoryRegion words = right().region(16);

        left().compareSwap(1, 0, -1).remote(words.stag(), 4).post();
        pair().run();

        assertErrorOnBothSides(0, 2, 7);
        assertThat(left().completions().sendStatuses()).containsExactly(CqeStatus.REMOTE_OPERATION_ERROR);
        assertThat(TestMemory.get(words)).containsOnly(0);
    }

    @Test
    void aLossFlushesAtomicOperationsAndImmediateDataOnce() {
        MemoryRegion word = right().region(8);
        for (int i = 0; i < 20; i++) {
            left().fetchAdd(i, 1).remote(word).post();
            left().write(100 + i).remote(word).immediate(i).post();
        }
        pair().link().turn(Side.LEFT);

        pair().link().lose("reset");
        pair().run();

        assertThat(left().completions().sendIds()).hasSize(40).doesNotHaveDuplicates();
        assertThat(left().completions().sendStatuses().getLast()).isEqualTo(CqeStatus.FLUSHED);
    }
}
