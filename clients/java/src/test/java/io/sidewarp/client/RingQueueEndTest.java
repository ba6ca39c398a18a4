// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.ring.RingRecord;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the end of a queue over rings, and the error that its users receive. */
class RingQueueEndTest extends RingQueueFixture {

    @ParameterizedTest
    @EnumSource
    void pollerHearsThatTheSidecarIsGoneWithEachWayOfWaiting(WaitStrategy strategy) throws Exception {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));
        FakeRing ring = ring();
        Thread killer = Thread.ofPlatform().start(() -> {
            await().until(() -> ring.welcomed.getCount() == 0);
            ring.close();
        });

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(LONG))
                .withMessageContaining("closed the socket of the queue")
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE));
        killer.join();
    }

    @Test
    void pollThatDoesNotWaitHearsOfTheEndToo() throws Exception {
        WorkQueue queue = open();
        ring().close();

        await().untilAsserted(() ->
                assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.poll(completion -> {}, 1)));
    }

    @Test
    void completionsThatCameBeforeTheEndAreReturnedFirst() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        queue.post(1, write);
        queue.post(2, write);
        await().untilAsserted(() -> assertThat(ring.taken).hasValue(2));

        ring.end("destroyed");
        await().untilAsserted(() -> assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.post(3, write))
                .withMessageContaining("ended ring")
                .withMessageContaining("destroyed; open another queue"));

        assertThat(next(queue).id()).isEqualTo(1);
        assertThat(next(queue).id()).isEqualTo(2);
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.poll(LONG));
        assertThat(queue.available()).isZero();
    }

    @Test
    void errorRecordTellsTheStatus() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        await().until(() -> ring.welcomed.getCount() == 0);

        ring.send(RingRecord.of(RingRecord.ERROR, 3, "bad record".getBytes(StandardCharsets.UTF_8)));

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(LONG))
                .withMessageContaining("bad record")
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    }

    @Test
    void futuresFailAndTheHandlerIsToldWhenTheSidecarIsGone() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ring.holding = true;
        BlockingQueue<Object> told = new LinkedBlockingQueue<>();
        queue.onCompletion(new CompletionHandler() {
            @Override
            public void onCompletion(WorkCompletion completion) {
                told.add(completion.id());
            }

            @Override
            public void onFailure(SidewarpException cause) {
                told.add(cause.code());
            }
        });
        CompletableFuture<WorkCompletion> future = queue.submit(write);
        await().until(() -> ring.welcomed.getCount() == 0);

        ring.close();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(future::get)
                .withMessageContaining("closed the socket");
        assertThat(FakeSidecar.next(told)).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void closedQueueFailsFuturesAndPosts() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ring.behaviour = (work, completion) -> false;
        CompletableFuture<WorkCompletion> future = queue.submit(write);

        queue.close();
        queue.close();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(future::get)
                .withMessageContaining("closed");
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.tryPost(1, write));
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.poll(LONG));
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.drain(LONG));
    }

    @Test
    void closingWakesThreadsThatWait() throws Exception {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(WaitStrategy.SLEEP));
        FakeRing ring = ring();
        ring.holding = true;
        AtomicReference<Throwable> polling = new AtomicReference<>();
        AtomicReference<Throwable> posting = new AtomicReference<>();
        Thread poller = Thread.ofVirtual().start(() -> keep(polling, () -> queue.poll(LONG)));
        Thread poster = Thread.ofPlatform()
                .start(() -> keep(posting, () -> {
                    for (int i = 0; i < 1000; i++) {
                        queue.post(i, write, LONG);
                    }
                }));
        await().until(() -> queue.available() == 0);

        queue.close();

        poller.join(10_000);
        poster.join(10_000);
        assertThat(polling.get()).isInstanceOf(SidewarpException.class).hasMessageContaining("closed");
        assertThat(posting.get()).isInstanceOf(SidewarpException.class).hasMessageContaining("closed");
    }

    @Test
    void endOfTheSessionEndsTheQueue() throws Exception {
        WorkQueue queue = open();
        CompletableFuture<WorkCompletion> future;
        FakeRing ring = ring();
        ring.behaviour = (work, completion) -> false;
        future = queue.submit(write);

        session.close();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(future::get)
                .withMessageContaining("session");
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(LONG))
                .withMessageContaining("session");
    }

    @Test
    void handlerThatFailsEndsTheQueue() throws Exception {
        WorkQueue queue = open();
        BlockingQueue<SidewarpException> failures = new LinkedBlockingQueue<>();
        queue.onCompletion(new CompletionHandler() {
            @Override
            public void onCompletion(WorkCompletion completion) {
                throw new IllegalStateException("bug");
            }

            @Override
            public void onFailure(SidewarpException cause) {
                failures.add(cause);
            }
        });

        queue.post(1, write);

        assertThat(FakeSidecar.next(failures)).hasMessageContaining("bug");
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.tryPost(1, write));
    }

    @Test
    void handlerMustNotWait() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        queue.onCompletion(completion -> {
            try {
                ring.holding = true;
                while (true) {
                    queue.post(7, write);
                }
            } catch (IllegalStateException e) {
                failures.add(e);
            }
        });

        queue.post(1, write);

        assertThat(FakeSidecar.next(failures)).hasMessageContaining("use tryPost here");
        assertThatIllegalStateException().isThrownBy(() -> queue.poll(LONG));
    }

    @Test
    void interruptEndsTheWaiting() throws Exception {
        WorkQueue queue = open();
        AtomicReference<Throwable> polling = new AtomicReference<>();
        Thread poller = Thread.ofPlatform().start(() -> keep(polling, () -> queue.poll(LONG)));

        poller.interrupt();
        poller.join(10_000);

        assertThat(polling.get())
                .isInstanceOfSatisfying(
                        SidewarpException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED));
        queue.post(1, write);
        assertThat(next(queue).id()).isEqualTo(1);
    }

    @Test
    void completionOfNoOutstandingRequestEndsTheQueue() throws Exception {
        WorkQueue queue = open();
        ring().behaviour = (work, completion) -> {
            completion.set(999, work.connection(), work.opcode(), 1, 1, 0);
            return true;
        };
        queue.post(1, write);

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(LONG))
                .withMessageContaining("not outstanding: 999");
    }

    @Test
    void postsThatTheSidecarDidNotTakeAreNotWaitedFor() throws Exception {
        WorkQueue queue = open();
        FakeRing ring = ring();
        ConnectionTraffic traffic = ((GrpcSession) session).traffic().of(connection.id());
        queue.post(1, write);
        next(queue);
        ring.holding = true;
        await().until(() -> queue.tryPost(2, write) && queue.available() < 15);
        long posted = traffic.posts();
        long taken = ring.taken.get();

        ring.end("broken");
        await().untilAsserted(() ->
                assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.poll(Duration.ZERO)));

        assertThat(posted).isGreaterThan(taken);
        assertThat(traffic.posts()).isEqualTo(taken);
    }

    @ParameterizedTest
    @EnumSource
    void fileThatIsCutShortEndsTheQueue(WaitStrategy strategy) throws Exception {
        WorkQueue queue = session.openQueue(RINGS.withWaitStrategy(strategy));
        FakeRing ring = ring();
        try (FileChannel file =
                FileChannel.open(sidecar.volume.resolve("ring-" + ring.id()), StandardOpenOption.WRITE)) {
            file.truncate(0);
        }

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.poll(LONG))
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE));
        assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> queue.post(1, write));
        queue.close();
    }

    private static void keep(AtomicReference<Throwable> failure, Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            failure.set(e);
        }
    }
}
