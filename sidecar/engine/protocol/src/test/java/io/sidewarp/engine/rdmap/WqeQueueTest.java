// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WqeQueueTest {

    private static final int POSTERS = 4;
    private static final int REQUESTS_EACH = 20_000;

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private static long fill(WqeQueue queue, long id) {
        long sequence = queue.claim();
        if (sequence >= 0) {
            queue.slot(sequence).set(new Wr().reset(id, WrOpcode.SEND));
        }
        return sequence;
    }

    private static void post(WqeQueue queue, long id) {
        queue.publish(fill(queue, id));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void whoeverHearsOfACompletionMayPostWhileTheElementIsStillRead(int capacity) {
        WqeQueue queue = new WqeQueue(capacity);
        for (int i = 0; i < capacity; i++) {
            post(queue, i);
        }
        for (int i = 0; i < 20; i++) {
            Wqe oldest = queue.oldest();
            queue.complete();

            post(queue, capacity + i);

            assertThat(queue.claim()).isEqualTo(-1);
            assertThat(oldest.id()).isEqualTo(i);
            assertThat(queue.oldest()).isSameAs(oldest);
            queue.retire();
            assertThat(queue.claim()).isEqualTo(-1);
            assertThat(queue.outstanding()).isEqualTo(capacity);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 8, 100})
    void aQueueMakesOneElementMoreThanItHolds(int capacity) {
        WqeQueue queue = new WqeQueue(capacity);
        Set<Wqe> made = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < 4 * capacity + 4; i++) {
            post(queue, i);
            made.add(queue.oldest());
            queue.retire();
        }
        assertThat(made).hasSize(capacity + 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 8, 100})
    void aQueueHoldsAsManyElementsAsItsCapacity(int capacity) {
        WqeQueue queue = new WqeQueue(capacity);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < capacity; i++) {
                post(queue, i);
            }

            assertThat(queue.claim()).isEqualTo(-1);
            assertThat(queue.outstanding()).isEqualTo(capacity);
            for (int i = 0; i < capacity; i++) {
                assertThat(queue.oldest().id()).isEqualTo(i);
                queue.retire();
            }
            assertThat(queue.oldest()).isNull();
            assertThat(queue.outstanding()).isZero();
        }
        assertThat(queue.capacity()).isEqualTo(capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void aQueueWithoutCapacityIsRefused(int capacity) {
        assertThatThrownBy(() -> new WqeQueue(capacity)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anElementIsSeenWhenItIsPublishedAndNotBefore() {
        WqeQueue queue = new WqeQueue(4);
        long first = fill(queue, 1);
        long second = fill(queue, 2);

        queue.publish(second);
        assertThat(queue.peekNext()).isNull();
        assertThat(queue.oldest()).isNull();
        queue.publish(first);

        assertThat(queue.peekNext().id()).isEqualTo(1);
        assertThat(queue.peek(1).id()).isEqualTo(2);
        assertThat(queue.peek(2)).isNull();
    }

    @Test
    void elementsAreStartedInOrderAndRetiredInOrder() {
        WqeQueue queue = new WqeQueue(4);
        post(queue, 1);
        post(queue, 2);
        queue.advance();

        assertThat(queue.peekNext().id()).isEqualTo(2);
        assertThat(queue.oldest().id()).isEqualTo(1);
        queue.retire();
        assertThat(queue.oldest().id()).isEqualTo(2);
        assertThat(queue.peekNext().id()).isEqualTo(2);
    }

    @Test
    void anElementThatRetiresWithoutBeingStartedIsNotStartedLater() {
        WqeQueue queue = new WqeQueue(4);
        post(queue, 1);
        post(queue, 2);

        queue.retire();

        assertThat(queue.peekNext().id()).isEqualTo(2);
    }

    @Test
    void drainingHandsOverEverythingOnceAndInOrder() {
        WqeQueue queue = new WqeQueue(8);
        for (int i = 0; i < 8; i++) {
            post(queue, i);
        }
        List<Long> drained = new ArrayList<>();

        queue.drain(wqe -> drained.add(wqe.id()));
        queue.drain(wqe -> drained.add(-1L));

        assertThat(drained).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(queue.outstanding()).isZero();
    }

    @Test
    void aRetiredElementForgetsItsRegions() {
        WqeQueue queue = new WqeQueue(1);
        MemoryRegion region = memory.region(8);
        long sequence = queue.claim();
        Wqe wqe = queue.slot(sequence);
        wqe.set(new Wr().reset(1, WrOpcode.SEND).addSge(region, 0, 8));
        queue.publish(sequence);
        region.invalidate();
        assertThat(wqe.unusableRegion()).isSameAs(region);

        queue.retire();

        assertThat(wqe.unusableRegion()).isNull();
    }

    @Test
    void aSlotStartsAfreshEachTime() {
        WqeQueue queue = new WqeQueue(1);
        Wqe wqe = queue.slot(queue.claim());
        wqe.set(new Wr()
                .reset(1, WrOpcode.SEND)
                .fence(true)
                .remote(5, 6)
                .invalidateStag(7)
                .addSge(memory.region(8), 0, 8));
        wqe.markStarted();
        wqe.markDone();
        wqe.endPosition(99);
        wqe.addReceived(3);
        queue.publish(0);
        queue.retire();

        wqe = queue.slot(queue.claim());
        wqe.set(new Wr().reset(2, WrOpcode.SEND).signaled(false));

        assertThat(wqe.id()).isEqualTo(2);
        assertThat(wqe.length()).isZero();
        assertThat(wqe.isSignaled()).isFalse();
        assertThat(wqe.isFence()).isFalse();
        assertThat(wqe.isStarted()).isFalse();
        assertThat(wqe.isDone()).isFalse();
        assertThat(wqe.remoteStag()).isZero();
        assertThat(wqe.remoteTaggedOffset()).isZero();
        assertThat(wqe.invalidateStag()).isZero();
        assertThat(wqe.endPosition()).isZero();
        assertThat(wqe.received()).isZero();
        assertThat(wqe.sinkStag()).isZero();
    }

    /** Posts its share, waiting for room as a well-behaved poster does. */
    private static void postShare(WqeQueue queue, int poster, CountDownLatch start, AtomicBoolean failed) {
        Wr request = new Wr();
        try {
            start.await();
            for (int i = 0; i < REQUESTS_EACH; i++) {
                long sequence = queue.claim();
                while (sequence < 0) {
                    if (failed.get()) {
                        return;
                    }
                    Thread.onSpinWait();
                    sequence = queue.claim();
                }
                queue.slot(sequence)
                        .set(request.reset((long) poster << 32 | i, WrOpcode.SEND)
                                .remote(poster, i));
                queue.publish(sequence);
            }
        } catch (InterruptedException e) {
            failed.set(true);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 64})
    @Timeout(60)
    void manyPostersAndOneConsumerLoseNothingAndKeepEachPostersOrder(int capacity) throws InterruptedException {
        WqeQueue queue = new WqeQueue(capacity);
        CountDownLatch start = new CountDownLatch(1);
        AtomicBoolean failed = new AtomicBoolean();
        List<Thread> posters = new ArrayList<>();
        for (int poster = 0; poster < POSTERS; poster++) {
            int number = poster;
            posters.add(Thread.ofPlatform().start(() -> postShare(queue, number, start, failed)));
        }
        start.countDown();

        long[] next = new long[POSTERS];
        for (int taken = 0; taken < POSTERS * REQUESTS_EACH; ) {
            Wqe wqe = queue.peekNext();
            if (wqe == null) {
                Thread.onSpinWait();
                continue;
            }
            int poster = wqe.remoteStag();
            boolean asPosted =
                    wqe.remoteTaggedOffset() == next[poster] && wqe.id() == ((long) poster << 32 | next[poster]);
            if (!asPosted || queue.outstanding() > capacity) {
                failed.set(true);
                throw new AssertionError("element " + wqe.id() + " of poster " + poster + " came out of order");
            }
            next[poster]++;
            taken++;
            queue.advance();
            queue.retire();
        }
        for (Thread poster : posters) {
            poster.join();
        }

        assertThat(Arrays.stream(next)).containsOnly((long) REQUESTS_EACH);
        assertThat(queue.oldest()).isNull();
        assertThat(failed).isFalse();
    }
}
