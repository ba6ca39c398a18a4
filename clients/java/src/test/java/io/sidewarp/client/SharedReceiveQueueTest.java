// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.client.FakeTransfer.FakeQueue;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
import io.sidewarp.v1.WorkRequest.WorkCase;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SharedReceiveQueueTest extends FakeSidecarTest {

    private static final Sge SGE = new Sge(1, 16, 8);

    private SharedReceiveQueue receives;

    @BeforeEach
    void create() {
        receives = session.createSharedReceiveQueue(32);
    }

    @Test
    void isCreatedInTheDefaultDomainOrInTheOneThatIsNamed() throws Exception {
        session.createSharedReceiveQueue(0, 77);

        CreateSharedReceiveQueueRequest first = FakeSidecar.next(sidecar.sharedReceives.creates);
        assertThat(first.getSession()).isEqualTo(session.id());
        assertThat(first.getCapacity()).isEqualTo(32);
        assertThat(first.getProtectionDomain()).isEqualTo(7);
        assertThat(FakeSidecar.next(sidecar.sharedReceives.creates).getProtectionDomain())
                .isEqualTo(77);
        assertThat(receives.capacity()).isEqualTo(32);
        assertThat(receives.protectionDomain()).isEqualTo(7);
        assertThat(receives.usage()).isEqualTo(new SharedReceiveQueue.Usage(0, 0, 0));
    }

    @Test
    void interruptedThreadDestroysWhatItCloses() {
        Thread.currentThread().interrupt();

        receives.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(sidecar.sharedReceives.queues).isEmpty();
    }

    @Test
    void connectionsNameIt() throws Exception {
        session.connect(
                "127.0.0.1",
                1,
                ConnectionOptions.builder().sharedReceives(receives).build());

        assertThat(FakeSidecar.next(sidecar.connections.connects).getOptions().getSharedReceiveQueue())
                .isEqualTo(receives.id());
    }

    @Test
    void postedReceivesNameItAndCompletionsTheConnection() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        BlockingQueue<WorkCompletion> completions = WorkQueueFixture.handle(queue);

        queue.post(99, WorkRequest.receive(receives, SGE));
        var sent = server.nextWork();
        server.complete(
                FakeTransfer.success(sent).toBuilder().setConnection(4711).build());

        assertThat(sent.getWorkCase()).isEqualTo(WorkCase.RECEIVE);
        assertThat(sent.getConnection()).isZero();
        assertThat(sent.getSharedReceiveQueue()).isEqualTo(receives.id());
        assertThat(sent.getReceive().getLocal(0).getOffset()).isEqualTo(16);
        WorkCompletion completion = FakeSidecar.next(completions);
        assertThat(completion.id()).isEqualTo(99);
        assertThat(completion.connection()).isEqualTo(4711);
        await().until(() -> queue.available() == queue.credits());
    }

    @Test
    void aSimpleReceiveNamesIt() throws Exception {
        sidecar.transfer.receiveCompletion = FakeTransfer.completion(COMPLETION_STATUS_SUCCESS)
                .setConnection(4711)
                .build();

        WorkCompletion completion = receives.receive(SGE);

        ReceiveRequest request = FakeSidecar.next(sidecar.transfer.receives);
        assertThat(request.getConnection()).isZero();
        assertThat(request.getSharedReceiveQueue()).isEqualTo(receives.id());
        assertThat(request.getWork().getLocal(0).getRegion()).isEqualTo(1);
        assertThat(completion.connection()).isEqualTo(4711);
    }

    @Test
    void theLimitIsArmedAndToldToTheSessionsListeners() throws Exception {
        BlockingQueue<List<Long>> told = new LinkedBlockingQueue<>();
        session.onEvent(new SessionListener() {
            @Override
            public void sharedReceiveLimitReached(long queue, int limit) {
                told.add(List.of(queue, (long) limit));
            }
        });

        receives.arm(8);
        assertThat(FakeSidecar.next(sidecar.sharedReceives.modifies)).satisfies(request -> {
            assertThat(request.getSharedReceiveQueue()).isEqualTo(receives.id());
            assertThat(request.getLimit()).isEqualTo(8);
        });
        sidecar.nextSession()
                .onNext(OpenSessionResponse.newBuilder()
                        .setSharedReceiveQueueLimit(SharedReceiveQueueLimitReached.newBuilder()
                                .setSharedReceiveQueue(receives.id())
                                .setLimit(8))
                        .build());

        assertThat(FakeSidecar.next(told)).containsExactly(receives.id(), 8L);
    }

    @Test
    void isDestroyedOnceAndQuietlyAfterItsSession() {
        receives.close();
        assertThat(sidecar.sharedReceives.queues).isEmpty();
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(receives::close)
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.NOT_FOUND));
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(receives::usage)
                .withMessageContaining("is gone");

        session.close();

        assertThatCode(receives::close).doesNotThrowAnyException();
    }
}
