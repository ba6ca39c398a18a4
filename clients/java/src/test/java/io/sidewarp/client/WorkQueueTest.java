// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_FLUSHED;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REGION_FAULT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.client.FakeTransfer.FakeQueue;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.WorkRequest.WorkCase;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests posting, credits and completions of a working queue. */
class WorkQueueTest extends WorkQueueFixture {

    @Test
    void queueAsksForCreditsAndTakesWhatIsGranted() throws Exception {
        WorkQueue queue = session.openQueue(1000);

        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        assertThat(server.open.getSession()).isEqualTo(session.id());
        assertThat(server.open.getOutstanding()).isEqualTo(1000);
        assertThat(queue.credits()).isEqualTo(8);
        assertThat(queue.available()).isEqualTo(8);
    }

    @Test
    void completionIsToldToTheHandlerWithTheCallersId() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);

        assertThat(queue.tryPost(Long.MIN_VALUE, write)).isTrue();
        var sent = server.nextWork();
        server.succeed(sent);

        WorkCompletion completion = FakeSidecar.next(completions);
        assertThat(sent.getWorkCase()).isEqualTo(WorkCase.WRITE);
        assertThat(sent.getConnection()).isEqualTo(connection.id());
        assertThat(completion.id()).isEqualTo(Long.MIN_VALUE);
        assertThat(completion.connection()).isEqualTo(connection.id());
        assertThat(completion.isSuccess()).isTrue();
        assertThat(queue.available()).isEqualTo(8);
    }

    @Test
    void postingWithoutCreditIsRefusedUntilACompletionArrives() throws Exception {
        sidecar.transfer.credits = 2;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        queue.tryPost(1, write);
        var first = server.nextWork();
        queue.tryPost(2, write);

        assertThat(queue.tryPost(3, write)).isFalse();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.post(3, write, Duration.ZERO))
                .withMessageContaining("all 2 work requests of the queue were outstanding")
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));

        server.succeed(first);
        assertThat(FakeSidecar.next(completions).id()).isOne();
        assertThat(queue.tryPost(3, write)).isTrue();
    }

    @Test
    void blockedPosterGoesOnWhenACreditComesBack() throws Exception {
        sidecar.transfer.credits = 1;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        handle(queue);
        queue.post(1, write);
        CompletableFuture<Void> blocked = CompletableFuture.runAsync(() -> queue.post(2, write));
        var first = server.nextWork();
        assertThat(blocked).isNotDone();

        server.succeed(first);

        assertThat(blocked).succeedsWithin(LONG);
        assertThat(server.nextWork().getWorkCase()).isEqualTo(WorkCase.WRITE);
    }

    @Test
    void futuresTellTheOutcomeOfTheirOwnRequest() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CompletableFuture<WorkCompletion> first = queue.submit(write);
        var firstSent = server.nextWork();
        CompletableFuture<WorkCompletion> second = queue.submit(WorkRequest.send(connection, SGE));
        var secondSent = server.nextWork();

        server.complete(
                FakeTransfer.completion(firstSent, COMPLETION_STATUS_REGION_FAULT), FakeTransfer.success(secondSent));

        assertThat(second.get(20, TimeUnit.SECONDS).opcode()).isEqualTo(Opcode.SEND);
        assertThat(first.get().status()).isEqualTo(CompletionStatus.REGION_FAULT);
        assertThatExceptionOfType(WorkFailedException.class)
                .isThrownBy(() -> first.get().orThrow());
    }

    @Test
    void completionsAreHandedOutInTheOrderOfTheirArrival() throws Exception {
        sidecar.transfer.credits = 100;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        queue.batch(batch -> LongStream.range(0, 100).forEach(id -> batch.post(id, write)));
        QueuePost post = FakeSidecar.next(server.posts);

        var reversed = post.getWorkList().reversed();
        server.succeed(reversed.subList(0, 30));
        server.succeed(reversed.subList(30, 100));

        for (long id = 99; id >= 0; id--) {
            assertThat(FakeSidecar.next(completions).id()).isEqualTo(id);
        }
    }

    @Test
    void batchTravelsInOneMessageInTheOrderOfPosting() throws Exception {
        sidecar.transfer.credits = 64;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);

        queue.batch(batch -> {
            for (int i = 0; i < 64; i++) {
                batch.post(i, WorkRequest.write(connection, new RemoteAddress(7, i), SGE));
            }
        });

        QueuePost post = FakeSidecar.next(server.posts);
        assertThat(post.getWorkList())
                .extracting(work -> work.getWrite().getRemote().getTaggedOffset())
                .containsExactlyElementsOf(LongStream.range(0, 64).boxed().toList());
    }

    @Test
    void batchLargerThanTheCreditsDoesNotWaitForItself() throws Exception {
        sidecar.transfer.credits = 2;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        CompletableFuture<Void> batch = CompletableFuture.runAsync(() ->
                queue.batch(posting -> LongStream.range(0, 5).forEach(id -> posting.post(id, write))));

        for (int answered = 0; answered < 5; ) {
            QueuePost post = FakeSidecar.next(server.posts);
            assertThat(post.getWorkCount()).isLessThanOrEqualTo(2);
            server.succeed(post.getWorkList());
            answered += post.getWorkCount();
        }

        assertThat(batch).succeedsWithin(LONG);
        for (long id = 0; id < 5; id++) {
            assertThat(FakeSidecar.next(completions).id()).isEqualTo(id);
        }
    }

    @Test
    void postsOfAHandlerTravelTogetherAfterItsCompletions() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.onCompletion(completion -> queue.tryPost(completion.id() + 100, write));
        queue.batch(batch -> LongStream.range(0, 8).forEach(id -> batch.post(id, write)));
        QueuePost first = FakeSidecar.next(server.posts);

        server.succeed(first.getWorkList());

        assertThat(FakeSidecar.next(server.posts).getWorkCount()).isEqualTo(8);
    }

    @Test
    void requestsOfManyThreadsArriveOnceEachAndInEachThreadsOrder() throws Exception {
        int threads = 4;
        int perThread = 500;
        sidecar.transfer.credits = 16;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CountDownLatch completed = new CountDownLatch(threads * perThread);
        queue.onCompletion(completion -> completed.countDown());
        List<CompletableFuture<Void>> posters = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            long first = 1_000_000L * thread;
            posters.add(CompletableFuture.runAsync(
                    () -> LongStream.range(first, first + perThread)
                            .forEach(offset -> queue.post(
                                    offset, WorkRequest.write(connection, new RemoteAddress(7, offset), SGE))),
                    task -> Thread.ofPlatform().start(task)));
        }

        List<List<Long>> seen = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            seen.add(new ArrayList<>());
        }
        for (int received = 0; received < threads * perThread; ) {
            QueuePost post = FakeSidecar.next(server.posts);
            for (var work : post.getWorkList()) {
                long offset = work.getWrite().getRemote().getTaggedOffset();
                seen.get((int) (offset / 1_000_000)).add(offset);
            }
            received += post.getWorkCount();
            server.succeed(post.getWorkList());
        }

        assertThat(completed.await(20, TimeUnit.SECONDS)).isTrue();
        for (CompletableFuture<Void> poster : posters) {
            assertThat(poster).succeedsWithin(LONG);
        }
        assertThat(seen)
                .allSatisfy(order -> assertThat(order).hasSize(perThread).isSorted());
        assertThat(queue.available()).isEqualTo(16);
    }

    @Test
    void pollGivesCompletionsAndOnlyThenTheirCredits() throws Exception {
        sidecar.transfer.credits = 2;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.batch(batch -> {
            batch.post(1, write);
            batch.post(2, write);
        });
        assertThat(queue.poll(Duration.ZERO)).isEmpty();

        QueuePost post = FakeSidecar.next(server.posts);
        server.succeed(post.getWorkList());

        assertThat(queue.poll(LONG).orElseThrow().id()).isOne();
        assertThat(queue.available()).isOne();
        assertThat(queue.poll(LONG).orElseThrow().id()).isEqualTo(2);
        assertThat(queue.available()).isEqualTo(2);
    }

    @Test
    void handlerThatComesLateGetsWhatCameBefore() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.post(5, write);
        server.succeed(server.nextWork());
        await().until(() -> queue.available() == 7);

        assertThat(FakeSidecar.next(handle(queue)).id()).isEqualTo(5);
        assertThatIllegalStateException().isThrownBy(() -> queue.onCompletion(completion -> {}));
        assertThatIllegalStateException().isThrownBy(() -> queue.poll(Duration.ZERO));
        await().until(() -> queue.available() == 8);
    }

    @Test
    void unsignaledRequestsGiveTheirCreditsBackWithALaterCompletion() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        queue.batch(batch -> {
            batch.post(1, write.unsignaled());
            batch.post(2, write.unsignaled());
            batch.post(3, write);
        });
        QueuePost post = FakeSidecar.next(server.posts);
        assertThat(post.getWorkList()).extracting(work -> work.getUnsignaled()).containsExactly(true, true, false);

        server.succeed(post.getWork(2));

        assertThat(FakeSidecar.next(completions).id()).isEqualTo(3);
        assertThat(queue.available()).isEqualTo(8);
    }

    @Test
    void unsignaledRequestsWithoutEndNeverBlockTheQueueAndAreNeverTold() throws Exception {
        sidecar.transfer.credits = 4;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        WorkRequest unsignaled = write.unsignaled();
        CompletableFuture<Void> poster = CompletableFuture.runAsync(() -> {
            LongStream.range(0, 100).forEach(id -> queue.post(id, unsignaled));
            queue.post(1000, write);
        });

        for (int received = 0; received < 101; ) {
            QueuePost post = FakeSidecar.next(server.posts);
            server.succeed(post.getWorkList().stream()
                    .filter(work -> !work.getUnsignaled())
                    .toList());
            received += post.getWorkCount();
        }

        assertThat(poster).succeedsWithin(LONG);
        assertThat(FakeSidecar.next(completions).id()).isEqualTo(1000);
        assertThat(completions).isEmpty();
    }

    @Test
    void failedUnsignaledRequestIsTold() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        queue.post(6, write.unsignaled());

        server.complete(FakeTransfer.completion(server.nextWork(), COMPLETION_STATUS_FLUSHED));

        WorkCompletion completion = FakeSidecar.next(completions);
        assertThat(completion.id()).isEqualTo(6);
        assertThat(completion.status()).isEqualTo(CompletionStatus.FLUSHED);
    }

    @Test
    void futureOfAnUnsignaledRequestIsRefused() {
        WorkQueue queue = session.openQueue(0);

        assertThatIllegalArgumentException().isThrownBy(() -> queue.submit(write.unsignaled()));
    }

    @Test
    void creditsOfUnsignaledRequestsComeBackAfterTheEndOfTheirConnection() throws Exception {
        Connection ending = session.connect("127.0.0.1", 2);
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        handle(queue);
        queue.post(1, WorkRequest.send(ending, SGE).unsignaled());
        server.nextWork();
        tellClosed(ending);
        assertThat(queue.available()).isEqualTo(7);

        queue.post(2, write);
        server.succeed(server.nextWork());

        await().atMost(LONG).until(() -> queue.available() == 8);
    }

    @Test
    void receivesLeaveTheLastCreditToWorkThatBringsBackThoseOfUnsignaledRequests() throws Exception {
        sidecar.transfer.credits = 4;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        WorkRequest receive = WorkRequest.receive(connection, SGE);
        queue.batch(batch -> {
            batch.post(1, write.unsignaled());
            batch.post(2, write.unsignaled());
            batch.post(3, receive);
        });
        assertThat(FakeSidecar.next(server.posts).getWorkCount()).isEqualTo(3);

        assertThat(queue.tryPost(4, receive)).isFalse();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.post(4, receive, Duration.ZERO))
                .withMessageContaining("all but one of the 4 work requests of the queue were outstanding")
                .withMessageContaining("receives leave the last one");
        CompletableFuture<Void> blocked = CompletableFuture.runAsync(() -> queue.post(4, receive));
        assertThat(queue.tryPost(5, WorkRequest.send(connection, SGE))).isTrue();
        server.succeed(server.nextWork());

        assertThat(FakeSidecar.next(completions).id()).isEqualTo(5);
        assertThat(blocked).succeedsWithin(LONG);
        assertThat(server.nextWork().getWorkCase()).isEqualTo(WorkCase.RECEIVE);
        assertThat(queue.available()).isEqualTo(2);
    }

    @Test
    void receiveCanAlwaysBePostedAgainBehindAnUnsignaledAnswer() throws Exception {
        sidecar.transfer.credits = 4;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        WorkRequest receive = WorkRequest.receive(connection, SGE);
        WorkRequest answer = WorkRequest.send(connection, SGE).unsignaled();
        BlockingQueue<Boolean> posted = new LinkedBlockingQueue<>();
        queue.onCompletion(message -> {
            posted.add(queue.tryPost(2, answer));
            posted.add(queue.tryPost(1, receive));
        });
        queue.batch(batch -> {
            batch.post(1, receive);
            batch.post(1, receive);
        });
        QueuePost first = FakeSidecar.next(server.posts);
        var receives = new ArrayDeque<>(first.getWorkList());

        for (int messages = 0; messages < 20; messages++) {
            server.succeed(receives.remove());
            assertThat(FakeSidecar.next(posted)).isTrue();
            assertThat(FakeSidecar.next(posted)).isTrue();
            QueuePost post = FakeSidecar.next(server.posts);
            if (!post.getWork(0).getUnsignaled()) {
                server.succeed(post.getWork(0));
            }
            receives.add(post.getWork(1));
        }
    }

    @Test
    void sendGetsTheLastCreditAlsoWhenAReceiveHasWaitedLonger() throws Exception {
        sidecar.transfer.credits = 5;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        WorkRequest receive = WorkRequest.receive(connection, SGE);
        queue.batch(batch -> {
            batch.post(1, write);
            batch.post(2, write.unsignaled());
            batch.post(3, write.unsignaled());
            batch.post(4, receive);
            batch.post(5, receive);
        });
        QueuePost post = FakeSidecar.next(server.posts);
        Thread receiver = Thread.ofPlatform().daemon().start(() -> queue.post(6, receive));
        await().until(() -> receiver.getState() == Thread.State.TIMED_WAITING);
        Thread sender = Thread.ofPlatform().daemon().start(() -> queue.post(7, WorkRequest.send(connection, SGE)));
        await().until(() -> sender.getState() == Thread.State.TIMED_WAITING);
        server.succeed(post.getWork(0));

        assertThat(queue.poll(LONG).orElseThrow().id()).isOne();

        var last = server.nextWork();
        assertThat(last.getWorkCase()).isEqualTo(WorkCase.SEND);
        assertThat(receiver.isAlive()).isTrue();
        server.succeed(last);
        assertThat(server.nextWork().getWorkCase()).isEqualTo(WorkCase.RECEIVE);
    }

    private void tellClosed(Connection ended) throws InterruptedException {
        sidecar.nextSession()
                .onNext(OpenSessionResponse.newBuilder()
                        .setConnection(ConnectionStateChange.newBuilder()
                                .setConnection(ended.id())
                                .setState(ConnectionState.CONNECTION_STATE_CLOSED))
                        .build());
        assertThat(ended.closed()).succeedsWithin(LONG);
    }
}
