// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests both sides of a ring on one thread. */
class RingProducerConsumerTest {

    private static final int BLOCKS = 16;

    private final MemorySegment file = Arena.ofAuto().allocate(RingLayout.fileLength(BLOCKS), 8);
    private final MemorySegment written = entry();
    private final MemorySegment read = entry();
    private final WorkEntryFlyweight work = new WorkEntryFlyweight(written);
    private final RingProducer producer = new RingProducer(file, BLOCKS);
    private final RingConsumer consumer = new RingConsumer(file, BLOCKS, WorkEntryFlyweight.MAX_BLOCKS);

    @BeforeEach
    void initialize() {
        RingLayout.initialize(file, RingLayout.KIND_SEND, BLOCKS, 7, 6);
    }

    @Test
    void headerHasItsWordsAtTheirOffsets() {
        assertThat(word(0)).isEqualTo(0x53575247);
        assertThat(word(4)).isEqualTo(1);
        assertThat(word(8)).isEqualTo(1);
        assertThat(word(12)).isEqualTo(512);
        assertThat(word(16)).isEqualTo(16);
        assertThat(word(20)).isEqualTo(64);
        assertThat(file.get(ValueLayout.JAVA_LONG, 24)).isEqualTo(7);
        assertThat(file.get(ValueLayout.JAVA_LONG, 32)).isEqualTo(6);
        assertThat(RingLayout.blocks(file)).isEqualTo(16);
        RingLayout.check(file, RingLayout.KIND_SEND, BLOCKS);
        assertThat(RingLayout.isEnded(file)).isFalse();
        RingLayout.end(file);
        assertThat(word(448)).isEqualTo(1);
        assertThat(RingLayout.isEnded(file)).isTrue();
    }

    @Test
    void fileOfAnotherKindOrByteOrderIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RingLayout.check(file, RingLayout.KIND_COMPLETION, BLOCKS))
                .withMessageContaining("kind 1; expected 3");
        file.set(ValueLayout.JAVA_INT, 0, Integer.reverseBytes(RingLayout.MAGIC));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RingLayout.check(file, RingLayout.KIND_SEND, BLOCKS))
                .withMessageContaining("magic");
    }

    @Test
    void entriesComeInOrderAndWrapAroundTheEnd() {
        for (int id = 0; id < 1000; id++) {
            int elements = id % 17;
            publish(id, elements);

            assertThat(consumer.isReady()).isTrue();
            int blocks = consumer.copy(read);
            assertThat(blocks).isEqualTo(WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, elements));
            consumer.advance(blocks);
            consumer.release();
            WorkEntryFlyweight got = new WorkEntryFlyweight(read);
            assertThat(got.id()).isEqualTo(id);
            assertThat(got.elements()).isEqualTo(elements);
            for (int i = 0; i < elements; i++) {
                assertThat(got.region(i)).isEqualTo(id + i);
                assertThat(got.offset(i)).isEqualTo(-id);
                assertThat(got.length(i)).isEqualTo(i);
            }
        }
        assertThat(consumer.isReady()).isFalse();
    }

    @Test
    void preparedEntryIsTheSameAsAnEntryThatIsCopied() {
        long[] words = new long[WorkEntryFlyweight.MAX_BLOCKS * 8];
        WorkEntryFlyweight prepared = new WorkEntryFlyweight(MemorySegment.ofArray(words));
        for (WorkEntryFlyweight entry : List.of(work, prepared)) {
            entry.connection(5)
                    .opcode(WorkEntryFlyweight.OPCODE_COMPARE_SWAP)
                    .blocks(2)
                    .elements(1)
                    .remoteStag(0xA1B2C3D4)
                    .remoteOffset(-9)
                    .element(0, 3, 4, 8)
                    .operands(1, 2, 3, 4)
                    .flags(WorkEntryFlyweight.FLAG_FENCE);
        }
        producer.publish(work.id(77).tag(200).segment(), 2);
        producer.publish(words, 2, 77, 200);

        MemorySegment first = file.asSlice(RingLayout.DATA_OFFSET, 128);
        MemorySegment second = file.asSlice(RingLayout.DATA_OFFSET + 128, 128);
        assertThat(second.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(3);
        assertThat(second.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(4);
        second.set(ValueLayout.JAVA_LONG, 0, 1);
        second.set(ValueLayout.JAVA_LONG, 64, 2);
        assertThat(second.mismatch(first)).isEqualTo(-1);
    }

    @Test
    void producerHasNoRoomUntilTheConsumerReleases() {
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(producer.hasRoom(1)).isTrue();
            publish(i, 1);
        }
        assertThat(producer.hasRoom(1)).isFalse();
        assertThat(producer.seemsToHaveRoom(1)).isFalse();

        consumer.advance(3);
        assertThat(producer.hasRoom(1)).isFalse();
        assertThat(consumer.unreleased()).isEqualTo(3);
        consumer.release();

        assertThat(producer.hasRoom(3)).isTrue();
        assertThat(producer.hasRoom(4)).isFalse();
        assertThat(producer.seemsToHaveRoom(3)).isTrue();
        assertThat(producer.unconsumed()).isEqualTo(13);
    }

    @Test
    void producerBelievesOnlyAPossibleNumberOfConsumedBlocks() {
        publish(1, 1);
        publish(2, 1);
        consumer.advance(1);
        consumer.release();
        assertThat(producer.refresh()).isEqualTo(1);

        for (long impossible : new long[] {0, 3, Long.MIN_VALUE, Long.MAX_VALUE, -1}) {
            file.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED_OFFSET, impossible);
            assertThat(producer.refresh()).isEqualTo(1);
        }
    }

    @Test
    void entryWithAnImpossibleNumberOfBlocksIsBroken() {
        for (int blocks : new int[] {0, 11, 255}) {
            work.blocks(blocks);
            producer.publish(written, 1);
            assertThat(consumer.copy(read)).isEqualTo(RingConsumer.BROKEN);
            consumer.advance(1);
        }
    }

    @Test
    void unconsumedEntriesAreTold() {
        publish(1, 1);
        publish(2, 5);
        work.connection(9).flags(WorkEntryFlyweight.FLAG_SHARED);
        publish(3, 1);
        work.connection(8).flags(0);
        publish(4, 2);
        consumer.advance(1);
        consumer.release();
        List<Long> connections = new ArrayList<>();

        producer.forEachUnconsumed(connections::add);

        assertThat(connections).containsExactly(0L, 8L);
    }

    @Test
    void sleepingConsumerIsTakenOnce() {
        assertThat(producer.takeSleeper(true)).isFalse();
        assertThat(consumer.arm(RingLayout.WAITS_FOR_ANY)).isFalse();
        assertThat(producer.takeSleeper(false)).isTrue();
        assertThat(producer.takeSleeper(false)).isFalse();

        consumer.arm(RingLayout.WAITS_FOR_SOLICITED);
        assertThat(producer.takeSleeper(false)).isFalse();
        assertThat(producer.takeSleeper(true)).isTrue();

        consumer.arm(RingLayout.WAITS_FOR_ANY);
        consumer.disarm();
        assertThat(producer.takeSleeper(true)).isFalse();
        publish(1, 1);
        assertThat(consumer.arm(RingLayout.WAITS_FOR_ANY)).isTrue();
    }

    @Test
    void waitingProducerIsTakenOnceWithTheNextRelease() {
        publish(1, 1);
        publish(2, 1);
        producer.armForRoom();

        assertThat(consumer.release()).isFalse();
        consumer.advance(1);
        assertThat(consumer.release()).isTrue();
        consumer.advance(1);
        assertThat(consumer.release()).isFalse();
        producer.armForRoom();
        producer.disarm();
        publish(3, 1);
        consumer.advance(1);
        assertThat(consumer.release()).isFalse();
    }

    private void publish(long id, int elements) {
        work.id(id).opcode(WorkEntryFlyweight.OPCODE_SEND).elements(elements);
        int blocks = WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, elements);
        work.blocks(blocks);
        for (int i = 0; i < elements; i++) {
            work.element(i, id + i, -id, i);
        }
        producer.publish(written, blocks);
    }

    private int word(long offset) {
        return file.get(ValueLayout.JAVA_INT, offset);
    }

    private static MemorySegment entry() {
        return Arena.ofAuto().allocate((long) WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    }
}
