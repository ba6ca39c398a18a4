// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.WorkEntryFlyweight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests posting, polling and draining of a working queue over rings. */
class RingWorkQueueTest extends RingQueueFixture {

    @Test
    void queueTellsItsPathAndWhatItsRingsHold() throws Exception {
        WorkQueue queue = open();

        assertThat(queue.path()).isEqualTo(QueuePath.RINGS);
        assertThat(queue.credits()).isEqualTo(8);
        assertThat(queue.available()).isEqualTo(16);
        assertThat(session.openQueue(RINGS.withOutstanding(64)).credits()).isEqualTo(64);
    }

    @ParameterizedTest
    @EnumSource
    void pollReturnsCompletionsInOrderWithEachWayOfWaiting(WaitStrategy strategy) {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));

        for (int round = 0; round < 50; round++) {
            queue.post(Long.MIN_VALUE + round, write);
            WorkCompletion completion = next(queue);

            assertThat(completion.id()).isEqualTo(Long.MIN_VALUE + round);
            assertThat(completion.connection()).isEqualTo(connection.id());
            assertThat(completion.opcode()).isEqualTo(Opcode.WRITE);
            assertThat(completion.isSuccess()).isTrue();
            assertThat(completion.length()).isEqualTo(8);
        }
    }

    @ParameterizedTest
    @EnumSource
    void pollWithATimeoutEndsInTime(WaitStrategy strategy) {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));

        long started = System.nanoTime();
        assertThat(queue.poll(Duration.ofMillis(30))).isEmpty();
        assertThat(System.nanoTime() - started).isBetween(29_000_000L, 20_000_000_000L);
        assertThat(queue.poll((CompletionView completion) -> {}, 5)).isZero();
    }

    @Test
    void takerGetsABatchOfCompletions() throws Exception {
        WorkQueue queue = open();
        queue.batch(batched -> {
            for (int i = 0; i < 6; i++) {
                batched.post(i, i % 2 == 0 ? write : receive);
            }
        });
        List<WorkCompletion> taken = new ArrayList<>();

        await().untilAsserted(() -> {
            queue.poll(completion -> taken.add(completion.toCompletion()), 3);
            assertThat(taken).hasSize(6);
        });

        assertThat(taken).extracting(WorkCompletion::id).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(taken)
                .filteredOn(completion -> completion.opcode() == Opcode.RECEIVE)
                .extracting(WorkCompletion::id)
                .containsExactly(1L, 3L, 5L);
        assertThatIllegalArgumentException().isThrownBy(() -> queue.poll(completion -> {}, 0));
    }

    @Test
    void viewShowsWhatTheCompletionHas() throws Exception {
        WorkQueue queue = open();
        ring().behaviour = (work, completion) -> {
            completion
                    .flags(CompletionEntryFlyweight.FLAG_SOLICITED
                            | CompletionEntryFlyweight.FLAG_INVALIDATED
                            | CompletionEntryFlyweight.FLAG_IMMEDIATE)
                    .result(-5)
                    .invalidatedStag(77);
            return true;
        };
        queue.post(3, receive);

        List<WorkCompletion> copies = new ArrayList<>();
        int taken = queue.poll(
                completion -> {
                    assertThat(completion.id()).isEqualTo(3);
                    assertThat(completion.connection()).isEqualTo(connection.id());
                    assertThat(completion.opcode()).isEqualTo(Opcode.RECEIVE);
                    assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
                    assertThat(completion.isSolicited()).isTrue();
                    assertThat(completion.isImmediate()).isTrue();
                    assertThat(completion.isOriginal()).isFalse();
                    assertThat(completion.result()).isEqualTo(-5);
                    assertThat(completion.isInvalidated()).isTrue();
                    assertThat(completion.invalidatedStag()).isEqualTo(77);
                    copies.add(completion.toCompletion());
                },
                1,
                LONG);

        assertThat(taken).isOne();
        assertThat(copies.getFirst().immediate()).hasValue(-5);
        assertThat(copies.getFirst().invalidatedStag()).hasValue(77);
        assertThat(copies.getFirst().solicited()).isTrue();
    }

    @Test
    void failedCompletionHasCauseAndAdvice() throws Exception {
        WorkQueue queue = open();
        ring().behaviour = (work, completion) -> {
            completion
                    .set(work.id(), work.connection(), work.opcode(), 4, work.tag(), 0)
                    .flags(CompletionEntryFlyweight.FLAG_ERROR)
                    .error(1, 1, 1, true)
                    .advice(9, 2)
                    .text("the peer's region is shorter", 8);
            return true;
        };
        queue.post(3, write);

        WorkCompletion completion = next(queue);

        assertThat(completion.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(completion.message()).isEqualTo("the peer's region is shorter");
        assertThat(completion.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(completion.retry()).isEqualTo(Retry.AFTER_RECONNECTING);
        assertThat(completion.error().orElseThrow())
                .hasToString("the peer reported DDP error 1/1: Base or bounds violation");
    }

    @Test
    void handlerGetsAllCompletionsInOrder() throws Exception {
        WorkQueue queue = open();
        BlockingQueue<WorkCompletion> completions = handle(queue);

        for (int i = 0; i < 500; i++) {
            queue.post(i, write);
        }

        for (int i = 0; i < 500; i++) {
            assertThat(next(completions).id()).isEqualTo(i);
        }
        assertThatIllegalStateException().isThrownBy(() -> queue.poll(Duration.ZERO));
        assertThatIllegalStateException().isThrownBy(() -> queue.onCompletion(completions::add));
    }

    @Test
    void handlerThatIsSetLateGetsWhatCameBefore() throws Exception {
        WorkQueue queue = open();
        queue.post(1, write);
        queue.submit(write).get();

        BlockingQueue<WorkCompletion> completions = handle(queue);

        assertThat(next(completions).id()).isEqualTo(1);
    }

    @Test
    void futuresCompleteWithoutAPollerAndOthersWaitForPoll() throws Exception {
        WorkQueue queue = open();
        queue.post(1, write);
        CompletableFuture<WorkCompletion> first = queue.submit(write);
        queue.post(2, write);
        CompletableFuture<WorkCompletion> second = queue.submit(receive);

        assertThat(first.get().orThrow().id()).isZero();
        assertThat(second.get().opcode()).isEqualTo(Opcode.RECEIVE);
        assertThat(next(queue).id()).isEqualTo(1);
        assertThat(next(queue).id()).isEqualTo(2);
        assertThatIllegalArgumentException().isThrownBy(() -> queue.submit(write.unsignaled()));
    }

    @Test
    void manyFuturesAreCompletedWhileAnotherThreadPolls() throws Exception {
        WorkQueue queue = open();
        List<CompletableFuture<WorkCompletion>> futures = new ArrayList<>();
        AtomicInteger polled = new AtomicInteger();
        Thread poller = Thread.ofVirtual().start(() -> {
            while (polled.get() < 300) {
                queue.poll(completion -> polled.incrementAndGet(), 5, LONG);
            }
        });

        for (int i = 0; i < 300; i++) {
            queue.post(i, write);
            futures.add(queue.submit(write));
        }

        CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).get();
        poller.join();
        assertThat(polled).hasValue(300);
    }

    @Test
    void postingIsRefusedWhileTheRingIsFull() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ring.holding = true;
        await().untilAsserted(() -> assertThat(ring.welcomed.getCount()).isZero());
        int posted = 0;
        while (queue.tryPost(posted, write)) {
            posted++;
        }

        assertThat(posted).isBetween(16, 32);
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.post(99, write, Duration.ofMillis(5)))
                .withMessageContaining("no room for 1 more for 5 ms");
        assertThat(queue.tryPost(100, receive)).isTrue();
        ring.holding = false;
        assertThat(next(queue).isSuccess()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void postWaitsForRoomWithEachWayOfWaiting(WaitStrategy strategy) throws Exception {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));
        AtomicInteger polled = new AtomicInteger();
        Thread poster = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 2000; i++) {
                queue.post(i, write);
            }
        });

        while (polled.get() < 2000) {
            queue.poll(completion -> assertThat(completion.id()).isEqualTo(polled.getAndIncrement()), 7, LONG);
        }
        poster.join();
    }

    @Test
    void unsignaledRequestsCompleteOnlyWhenTheyFail() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ring.behaviour = (work, completion) -> {
            if (work.id() == 5) {
                completion.set(5, work.connection(), work.opcode(), 9, work.tag(), 0);
                return true;
            }
            return (work.flags() & WorkEntryFlyweight.FLAG_UNSIGNALED) == 0;
        };
        for (int i = 0; i < 10; i++) {
            queue.post(i, i < 9 ? write.unsignaled() : write);
        }

        assertThat(next(queue).status()).isEqualTo(CompletionStatus.FATAL);
        assertThat(next(queue).id()).isEqualTo(9);
        assertThat(queue.drain(LONG)).isTrue();
        assertThat(ring.taken).hasValue(10);
    }

    @Test
    void drainKnowsUnsignaledWorkToBeCompleteByAWriteOfNoBytes() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        List<Integer> lengths = new ArrayList<>();
        ring.behaviour = (work, completion) -> {
            lengths.add(work.elements());
            return (work.flags() & WorkEntryFlyweight.FLAG_UNSIGNALED) == 0;
        };
        queue.post(1, write.unsignaled());

        assertThat(queue.drain(LONG)).isTrue();

        assertThat(lengths).containsExactly(1, 0);
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(Duration.ZERO))
                .withMessageContaining("drained");
        assertThat(queue.drain(Duration.ZERO)).isTrue();
    }

    @Test
    void drainKeepsCompletionsForPollAndTakesNoMorePosts() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ring.holding = true;
        LongStream.range(0, 14).forEach(id -> queue.post(id, write));

        assertThat(queue.drain(Duration.ofMillis(5))).isFalse();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.tryPost(1, write))
                .withMessageContaining("drained");
        ring.holding = false;
        assertThat(queue.drain(LONG)).isTrue();

        LongStream.range(0, 14)
                .forEach(id ->
                        assertThat(queue.poll(Duration.ZERO).orElseThrow().id()).isEqualTo(id));
    }

    @Test
    void drainWaitsForTheHandler() throws Exception {
        WorkQueue queue = open();
        List<Long> handled = new ArrayList<>();
        queue.onCompletion(completion -> handled.add(completion.id()));
        LongStream.range(0, 100).forEach(id -> queue.post(id, write));

        assertThat(queue.drain(LONG)).isTrue();

        assertThat(handled).hasSize(100);
    }

    @Test
    void takerMayPostAndPoll() throws Exception {
        WorkQueue queue = open();
        queue.post(0, write);
        AtomicInteger taken = new AtomicInteger();

        while (taken.get() < 200) {
            queue.poll(
                    completion -> {
                        assertThat(queue.tryPost(taken.incrementAndGet(), write))
                                .isTrue();
                        queue.poll(inner -> queue.post(taken.incrementAndGet(), write), 1);
                    },
                    4,
                    LONG);
        }
    }

    @Test
    void completionsBehindATakerThatFailsStay() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        LongStream.range(0, 5).forEach(id -> queue.post(id, write));
        await().untilAsserted(() -> assertThat(ring.taken).hasValue(5));

        assertThatIllegalStateException()
                .isThrownBy(() -> queue.poll(
                        completion -> {
                            if (completion.id() == 1) {
                                throw new IllegalStateException("stop");
                            }
                        },
                        5,
                        LONG));

        assertThat(IntStream.range(0, 3).mapToObj(i -> next(queue).id())).containsExactly(2L, 3L, 4L);
    }

    @Test
    void batchWakesTheSidecarOnceAtItsEnd() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        await().until(ring::isAsleep);

        queue.batch(batched -> {
            LongStream.range(0, 5).forEach(id -> batched.post(id, write));
            assertThat(ring.wakes).hasValue(0);
            assertThat(ring.taken).hasValue(0);
        });

        LongStream.range(0, 5).forEach(id -> assertThat(next(queue).id()).isEqualTo(id));
    }

    @Test
    void flushOfTheSessionSendsWhatABatchKeepsBack() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        await().until(ring::isAsleep);

        queue.batch(batched -> {
            batched.post(1, write);
            ((GrpcSession) session).flushQueues();
            await().untilAsserted(() -> assertThat(ring.taken).hasValue(1));
        });
    }

    @Test
    void answeredWorkConfirmsWhatWasPostedBefore() throws Exception {
        WorkQueue queue = open();
        Confirmation confirmation = ((GrpcConnection) connection).confirmation();
        queue.post(1, write);
        next(queue);
        assertThat(confirmation.isMissing()).isTrue();

        queue.post(2, WorkRequest.read(connection, new RemoteAddress(7, 0), SGE));

        assertThat(next(queue).id()).isEqualTo(2);
        assertThat(confirmation.isMissing()).isFalse();
    }

    @Test
    void postsAndCompletionsAreCountedForEventsAndCalls() throws Exception {
        WorkQueue queue = open();
        ConnectionTraffic traffic = ((GrpcSession) session).traffic().of(connection.id());
        queue.post(1, write);
        queue.post(2, receive);
        next(queue);
        next(queue);
        List<String> events = new ArrayList<>();

        traffic.runBehind(2, () -> events.add("closed"));

        assertThat(traffic.posts()).isEqualTo(2);
        await().untilAsserted(() -> assertThat(events).containsExactly("closed"));
    }
}
