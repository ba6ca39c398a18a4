// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests both sides of a ring on two threads. Each thread has its own mapping, as two processes have. */
class RingThreadsTest {

    private static final int ENTRIES = 1_000_000;
    private static final int ENTRIES_WITH_SLEEP = 100_000;
    private static final long LONG_SECONDS = 60;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(ints = {16, 1024})
    void aMillionEntriesOfAllLengthsArriveWholeAndInOrder(int blocks) throws Exception {
        RingProducer producer = new RingProducer(map(blocks), blocks);
        RingConsumer consumer = new RingConsumer(map(blocks), blocks, WorkEntryFlyweight.MAX_BLOCKS);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread producing = Thread.ofPlatform().start(() -> keep(failure, () -> produce(producer)));

        consume(consumer, failure);

        producing.join();
        assertThat(failure).hasNullValue();
    }

    @SuppressWarnings("ThreadPriorityCheck") // Waits for the other thread.
    private static void produce(RingProducer producer) {
        long[] words = new long[WorkEntryFlyweight.MAX_BLOCKS * 8];
        WorkEntryFlyweight work = new WorkEntryFlyweight(MemorySegment.ofArray(words));
        for (int id = 0; id < ENTRIES; id++) {
            int elements = elements(id);
            int blocks = WorkEntryFlyweight.blocks(WorkEntryFlyweight.OPCODE_SEND, elements);
            work.opcode(WorkEntryFlyweight.OPCODE_SEND).elements(elements).blocks(blocks);
            for (int i = 0; i < elements; i++) {
                work.element(i, id, ~id, i);
            }
            while (!producer.hasRoom(blocks)) {
                Thread.yield();
            }
            producer.publish(words, blocks, id, id & 0xFF);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // Waits for the other thread.
    private static void consume(RingConsumer consumer, AtomicReference<@Nullable Throwable> failure) {
        MemorySegment entry = entry();
        WorkEntryFlyweight work = new WorkEntryFlyweight(entry);
        for (int id = 0; id < ENTRIES; id++) {
            while (!consumer.isReady()) {
                assertThat(failure).hasNullValue();
                Thread.yield();
            }
            int blocks = consumer.copy(entry);
            boolean whole = work.id() == id && work.tag() == (id & 0xFF) && work.elements() == elements(id);
            for (int i = 0; i < elements(id); i++) {
                whole &= work.region(i) == id && work.offset(i) == ~id && work.length(i) == i;
            }
            if (!whole) {
                throw new AssertionError("entry " + id + " is broken");
            }
            consumer.advance(blocks);
            if (id % 3 == 0 || consumer.unreleased() > 4) {
                consumer.release();
            }
        }
    }

    private static int elements(int id) {
        return id % 7 == 0 ? id % 17 : 1;
    }

    @Test
    void noWakeUpIsLostWhenBothSidesSleep() throws Exception {
        RingProducer producer = new RingProducer(map(16), 16);
        RingConsumer consumer = new RingConsumer(map(16), 16, WorkEntryFlyweight.MAX_BLOCKS);
        Semaphore consumerWakes = new Semaphore(0);
        Semaphore producerWakes = new Semaphore(0);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread producing = Thread.ofPlatform()
                .start(() -> keep(failure, () -> produceAndSleep(producer, producerWakes, consumerWakes)));

        consumeAndSleep(consumer, consumerWakes, producerWakes);

        producing.join();
        assertThat(failure).hasNullValue();
    }

    private static void produceAndSleep(RingProducer producer, Semaphore own, Semaphore consumerWakes) {
        MemorySegment entry = entry();
        WorkEntryFlyweight work = new WorkEntryFlyweight(entry).blocks(1);
        for (int id = 0; id < ENTRIES_WITH_SLEEP; id++) {
            while (!producer.hasRoom(1)) {
                producer.armForRoom();
                if (!producer.hasRoom(1)) {
                    sleep(own);
                }
            }
            producer.publish(work.id(id).segment(), 1);
            // Batches of different lengths, so that both sides meet in all states.
            if (id % 5 < 3 && producer.takeSleeper(false)) {
                consumerWakes.release();
            }
        }
        if (producer.takeSleeper(false)) {
            consumerWakes.release();
        }
    }

    private static void consumeAndSleep(RingConsumer consumer, Semaphore own, Semaphore producerWakes) {
        MemorySegment entry = entry();
        for (int id = 0; id < ENTRIES_WITH_SLEEP; id++) {
            while (!consumer.isReady()) {
                if (consumer.arm(RingLayout.WAITS_FOR_ANY)) {
                    consumer.disarm();
                } else {
                    sleep(own);
                }
            }
            consumer.advance(consumer.copy(entry));
            if (consumer.release()) {
                producerWakes.release();
            }
        }
    }

    private static void sleep(Semaphore wakes) {
        try {
            if (!wakes.tryAcquire(LONG_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("a wake-up was lost");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void keep(AtomicReference<@Nullable Throwable> failure, Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failure.set(e);
        }
    }

    private MemorySegment map(int blocks) throws IOException {
        try (FileChannel channel = FileChannel.open(
                directory.resolve("ring-" + blocks),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, RingLayout.fileLength(blocks), Arena.ofAuto());
        }
    }

    private static MemorySegment entry() {
        return Arena.ofAuto().allocate((long) WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    }
}
