// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests many threads at one queue over rings. A lost wake-up makes a poller or poster wait until its long timeout. */
class RingQueueThreadsTest extends RingQueueFixture {

    private static final int THREADS = 2;
    private static final int REQUESTS = 3000;

    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @EnumSource
    void eachRequestCompletesOnceWhileManyThreadsWait(WaitStrategy strategy) {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));
        AtomicInteger[] completed = IntStream.range(0, THREADS * REQUESTS)
                .mapToObj(i -> new AtomicInteger())
                .toArray(AtomicInteger[]::new);
        AtomicInteger left = new AtomicInteger(THREADS * REQUESTS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int first = i * REQUESTS;
            Thread.Builder builder = i == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
            threads.add(builder.start(() -> keep(() -> post(queue, first))));
            threads.add(builder.start(() -> keep(() -> poll(queue, completed, left))));
        }

        Awaitility.await().atMost(LONG).until(() -> {
            // Wakes pollers whose completions others have taken.
            if (left.get() == 0) {
                queue.post(THREADS * REQUESTS, write, LONG);
            }
            return threads.stream().noneMatch(Thread::isAlive);
        });

        assertThat(failures).isEmpty();
        assertThat(completed).allMatch(count -> count.get() == 1);
        assertThat(queue.drain(LONG)).isTrue();
    }

    private void post(WorkQueue queue, int first) {
        for (int i = 0; i < REQUESTS; i++) {
            if (i % 10 == 0) {
                queue.submit(write);
            }
            queue.post(first + i, i % 2 == 0 ? write : receive, LONG);
        }
    }

    private static void poll(WorkQueue queue, AtomicInteger[] completed, AtomicInteger left) {
        while (left.get() > 0) {
            int taken = queue.poll(
                    completion -> {
                        if (completion.id() < completed.length) {
                            completed[(int) completion.id()].incrementAndGet();
                            left.decrementAndGet();
                        }
                    },
                    5,
                    LONG);
            assertThat(taken).as("a wake-up was lost").isPositive();
        }
    }

    private void keep(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
    }
}
