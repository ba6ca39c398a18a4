// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests the encoding and decoding of entries that rings-vector.txt does not contain. */
class EntryFlyweightTest {

    private final MemorySegment entry =
            Arena.ofAuto().allocate((long) WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    private final WorkEntryFlyweight work = new WorkEntryFlyweight(entry);
    private final CompletionEntryFlyweight completion = new CompletionEntryFlyweight(entry);

    @Test
    void workReturnsWhatWasWritten() {
        work.id(-1)
                .connection(Long.MIN_VALUE)
                .opcode(WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE)
                .blocks(10)
                .elements(16)
                .tag(255)
                .remoteStag(-2)
                .remoteOffset(-3)
                .operands(1, 2, 3, 4)
                .flags(WorkEntryFlyweight.FLAGS);
        for (int i = 0; i < 16; i++) {
            work.element(i, 100 + i, 200 + i, -i);
        }

        assertThat(work.id()).isEqualTo(-1);
        assertThat(work.connection()).isEqualTo(Long.MIN_VALUE);
        assertThat(work.opcode()).isEqualTo(6);
        assertThat(work.blocks()).isEqualTo(10);
        assertThat(work.elements()).isEqualTo(16);
        assertThat(work.tag()).isEqualTo(255);
        assertThat(work.remoteStag()).isEqualTo(-2);
        assertThat(work.remoteOffset()).isEqualTo(-3);
        assertThat(work.operand()).isEqualTo(1);
        assertThat(work.operandMask()).isEqualTo(2);
        assertThat(work.compare()).isEqualTo(3);
        assertThat(work.compareMask()).isEqualTo(4);
        assertThat(work.flags()).isEqualTo(255);
        for (int i = 0; i < 16; i++) {
            assertThat(work.region(i)).isEqualTo(100 + i);
            assertThat(work.offset(i)).isEqualTo(200 + i);
            assertThat(work.length(i)).isEqualTo(-i);
        }
        // Elements 1 and 2 stand behind the operand block, elements 15 and none in the last block.
        assertThat(entry.get(ValueLayout.JAVA_LONG, 2 * 64 + 8)).isEqualTo(101);
        assertThat(entry.get(ValueLayout.JAVA_LONG, 2 * 64 + 32)).isEqualTo(102);
        assertThat(entry.get(ValueLayout.JAVA_LONG, 9 * 64 + 8)).isEqualTo(115);
    }

    @Test
    void blocksOfAnEntryAreThoseThatTheContractCounts() {
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, 0)).isOne();
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, 1)).isOne();
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, 2)).isEqualTo(2);
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, 3)).isEqualTo(2);
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, 16))
                .isEqualTo(9);
        assertThat(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE, 16))
                .isEqualTo(WorkEntryFlyweight.MAX_BLOCKS);
        assertThat(WorkEntryFlyweight.inlineBlocks(WorkEntryFlyweight.OPCODE_SEND, 0))
                .isOne();
        assertThat(WorkEntryFlyweight.inlineBlocks(WorkEntryFlyweight.OPCODE_SEND, 56))
                .isEqualTo(2);
        assertThat(WorkEntryFlyweight.inlineBlocks(WorkEntryFlyweight.OPCODE_SEND, 57))
                .isEqualTo(3);
        assertThat(WorkEntryFlyweight.inlineBlocks(
                        WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE, WorkEntryFlyweight.MAX_INLINE))
                .isEqualTo(7);
    }

    @Test
    void inlinePayloadIsReadAsItWasWritten() {
        byte[] payload = "x".repeat(100).concat("y".repeat(124)).getBytes(StandardCharsets.US_ASCII);
        work.opcode(WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE).payload(MemorySegment.ofArray(payload));
        byte[] read = new byte[payload.length + 2];

        work.payload(MemorySegment.ofArray(read), 1, payload.length);

        assertThat(new String(read, 1, payload.length, StandardCharsets.US_ASCII))
                .isEqualTo(new String(payload, StandardCharsets.US_ASCII));
        assertThat(read[0]).isZero();
        assertThat(read[225]).isZero();
    }

    @Test
    void textOfACompletionIsCutAtAWholeCharacter() {
        completion.set(1, 2, 3, 9, 4, 5).text("é".repeat(300), 8);
        assertThat(completion.text()).isEqualTo("é".repeat(224));
        assertThat(completion.blocks()).isEqualTo(9);

        completion.set(1, 2, 3, 9, 4, 5).text("a".concat("é".repeat(300)), 1);
        assertThat(completion.text()).isEqualTo("a".concat("é".repeat(27)));
        assertThat(completion.blocks()).isEqualTo(2);

        completion.set(1, 2, 3, 9, 4, 5).text("no room", 0);
        assertThat(completion.text()).isEmpty();
        assertThat(completion.blocks()).isOne();
    }

    @Test
    void completionThatTellsMoreTextThanItHasIsReadWithinItsBlocks() {
        completion.set(1, 2, 3, 9, 4, 5).text("short", 8);
        entry.set(ValueLayout.JAVA_SHORT, CompletionEntryFlyweight.TEXT_LENGTH_OFFSET, (short) -1);

        assertThat(completion.text()).startsWith("short").hasSize(56);
    }

    @Test
    void completionReturnsWhatWasWritten() {
        completion
                .set(-1, -2, 11, 200, 255, -3)
                .flags(31)
                .result(-4)
                .invalidatedStag(-5)
                .error(2, 15, 255, true)
                .advice(16, 3);

        assertThat(completion.id()).isEqualTo(-1);
        assertThat(completion.connection()).isEqualTo(-2);
        assertThat(completion.opcode()).isEqualTo(11);
        assertThat(completion.blocks()).isOne();
        assertThat(completion.status()).isEqualTo(200);
        assertThat(completion.tag()).isEqualTo(255);
        assertThat(completion.length()).isEqualTo(-3);
        assertThat(completion.flags()).isEqualTo(31);
        assertThat(completion.result()).isEqualTo(-4);
        assertThat(completion.invalidatedStag()).isEqualTo(-5);
        assertThat(completion.errorLayer()).isEqualTo(2);
        assertThat(completion.errorType()).isEqualTo(15);
        assertThat(completion.errorCode()).isEqualTo(255);
        assertThat(completion.isErrorRemote()).isTrue();
        assertThat(completion.code()).isEqualTo(16);
        assertThat(completion.retry()).isEqualTo(3);
        assertThat(completion.text()).isEmpty();
    }
}
