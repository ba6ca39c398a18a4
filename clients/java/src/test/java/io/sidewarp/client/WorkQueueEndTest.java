// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Status;
import io.sidewarp.client.FakeTransfer.FakeQueue;
import io.sidewarp.v1.WorkRequest.WorkCase;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the ends of a queue: drained, closed, failed by the sidecar, or failed by a handler. */
class WorkQueueEndTest extends WorkQueueFixture {

    @Test
    void drainWaitsForOutstandingWorkAndTakesNoMore() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = handle(queue);
        queue.post(1, write);
        var sent = server.nextWork();
        assertThat(queue.drain(Duration.ZERO)).isFalse();
        assertThat(server.halfClosed.await(20, TimeUnit.SECONDS)).isTrue();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.tryPost(2, write))
                .withMessageContaining("drained");

        server.succeed(sent);
        server.end();

        assertThat(queue.drain(LONG)).isTrue();
        assertThat(FakeSidecar.next(completions).id()).isOne();
    }

    @Test
    void aNegativeNumberOfRequestsIsRefusedBeforeTheSidecarIsAsked() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> session.openQueue(-1))
                .withMessageContaining("outstanding is -1; allowed: ");
        assertThat(sidecar.transfer.queues).isEmpty();
    }

    @Test
    void closeOfAnIdleQueueEndsItsCallInOrder() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);

        queue.close();

        assertThat(server.halfClosed.await(20, TimeUnit.SECONDS)).isTrue();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> queue.post(1, write))
                .withMessageContaining("the queue is closed");
    }

    @Test
    void closeFailsWhatIsOutstanding() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CompletableFuture<WorkCompletion> submitted = queue.submit(write);
        server.nextWork();

        queue.close();

        SidewarpException failure = catchThrowableOfType(SidewarpException.class, () -> CallFuture.await(submitted));
        assertThat(failure).hasMessageContaining("the queue is closed");
        assertThat(server.cancelled.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void failureOfTheQueueIsToldToTheHandlerAndToWaitingThreads() throws Exception {
        sidecar.transfer.credits = 1;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CompletableFuture<SidewarpException> told = new CompletableFuture<>();
        queue.onCompletion(new CompletionHandler() {
            @Override
            public void onCompletion(WorkCompletion completion) {}

            @Override
            public void onFailure(SidewarpException cause) {
                told.complete(cause);
            }
        });
        queue.post(1, write);
        CompletableFuture<Void> blocked = CompletableFuture.runAsync(() -> queue.post(2, write));
        server.nextWork();

        server.fail(Status.RESOURCE_EXHAUSTED
                .withDescription("more posted than granted")
                .asRuntimeException());

        assertThat(told.get(20, TimeUnit.SECONDS).code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(blocked)
                .failsWithin(LONG)
                .withThrowableThat()
                .havingCause()
                .withMessageContaining("more posted than granted");
    }

    @Test
    void completionOfWorkThatIsNotOutstandingEndsTheQueue() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CompletableFuture<WorkCompletion> submitted = queue.submit(write);
        server.nextWork();

        server.complete(io.sidewarp.v1.WorkCompletion.newBuilder().setId(5).build());

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> CallFuture.await(submitted))
                .withMessageContaining("not outstanding: 5");
    }

    @Test
    void handlerThatThrowsEndsTheQueueAndNoOther() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.onCompletion(completion -> {
            throw new IllegalStateException("thrown by the test");
        });
        queue.post(1, write);
        CompletableFuture<WorkCompletion> submitted = queue.submit(write);
        var first = FakeSidecar.next(server.posts).getWork(0);

        server.succeed(first);

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> CallFuture.await(submitted))
                .withMessageContaining("completion handler failed")
                .withMessageContaining("thrown by the test");
        assertThat(session.openQueue(0).available()).isEqualTo(8);
    }

    @Test
    void errorOfAHandlerIsTheCauseThatTheQueueTells() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.onCompletion(completion -> {
            throw new AssertionError("thrown by the test");
        });
        queue.post(1, write);
        CompletableFuture<WorkCompletion> submitted = queue.submit(write);

        server.succeed(FakeSidecar.next(server.posts).getWork(0));

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> CallFuture.await(submitted))
                .withMessageContaining("completion handler failed")
                .withRootCauseInstanceOf(AssertionError.class);
    }

    @Test
    void waitingOnTheEventLoopIsRefusedInsteadOfHanging() throws Exception {
        sidecar.transfer.credits = 1;
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        queue.onCompletion(completion -> {
            queue.post(2, write);
            try {
                queue.post(3, write);
            } catch (IllegalStateException e) {
                thrown.complete(e);
            }
        });
        queue.post(1, write);

        server.succeed(server.nextWork());

        assertThat(thrown.get(20, TimeUnit.SECONDS)).hasMessageContaining("event loop");
        assertThat(server.nextWork().getWorkCase()).isEqualTo(WorkCase.WRITE);
    }
}
