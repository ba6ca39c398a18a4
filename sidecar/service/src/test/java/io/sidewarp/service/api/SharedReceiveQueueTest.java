// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests work of shared receive queues, over two sidecars. */
class SharedReceiveQueueTest extends SharedReceiveFixture {

    @Test
    @Requirement("RDMAP-8.1.2-08")
    void messagesOfAllConnectionsTakeTheOldestReceiveAndTheCompletionTellsWhose() {
        SharedReceiveQueue queue = create(8, 0);
        TestSession.Pair first = client.connectTo(server, using(queue));
        TestSession.Pair second = client.connectTo(server, using(queue));
        assertThat(first.there().getSharedReceiveQueue()).isEqualTo(queue.getId());
        try (TestQueue receiver = server.queue(8)) {
            receiver.credits();
            receiver.post(receive(1, queue), receive(2, queue), receive(3, queue), receive(4, queue));
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());

            long[] senders = new long[4];
            for (int i = 0; i < 4; i++) {
                TestSession.Pair pair = i % 3 == 0 ? first : second;
                senders[i] = pair.there().getId();
                sendOn(pair, 10 + i);
                WorkCompletion completion = receiver.next();
                assertThat(completion.getId()).isEqualTo(i + 1);
                assertThat(completion.getConnection()).isEqualTo(senders[i]);
                assertThat(completion.getLength()).isEqualTo(10 + i);
                assertThat(completion.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            }
            assertThat(senders)
                    .containsOnly(first.there().getId(), second.there().getId());
        }
        assertThat(server.load(target.getId(), 4L * SLOT, 13)).isEqualTo(client.load(source.getId(), 0, 13));
        assertThat(server.load(target.getId(), 3L * SLOT, 13)[12]).isZero();
    }

    @Test
    void receivesFlowAgainAndAgainThroughASmallQueueOfTwoBusyConnections() {
        int messages = 2_000;
        SharedReceiveQueue queue = create(8, 0);
        TestSession.Pair[] pairs = {client.connectTo(server, using(queue)), client.connectTo(server, using(queue))};
        try (TestQueue receiver = server.queue(8);
                TestQueue sender = client.queue(8)) {
            receiver.credits();
            sender.credits();
            for (int i = 0; i < 8; i++) {
                receiver.post(receive(i, queue));
            }
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            int[] got = new int[2];
            // As many messages are in flight as receives are posted, because a completed receive is posted again.
            for (int i = 0; i < messages + 8; i++) {
                if (i >= 8) {
                    WorkCompletion completion = receiver.next();
                    assertThat(completion.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                    got[completion.getConnection() == pairs[0].there().getId() ? 0 : 1]++;
                    sender.next();
                    receiver.post(receive(completion.getId(), queue));
                    server.device().getDevice(GetDeviceRequest.getDefaultInstance());
                }
                if (i < messages) {
                    sender.post(send(i, pairs[i % 2].here().getId(), source, 8).build());
                }
            }
            assertThat(got).containsExactly(messages / 2, messages / 2);
        }
    }

    @Test
    @Requirement("RDMAP-8.1.2-08")
    void theLimitIsToldOncePerArming() {
        SharedReceiveQueue queue = create(8, 2);
        TestSession.Pair pair = client.connectTo(server, using(queue));
        try (TestQueue receiver = server.queue(8)) {
            receiver.credits();
            for (int i = 1; i <= 5; i++) {
                receiver.post(receive(i, queue));
            }
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            for (int left = 4; left >= 2; left--) {
                sendOn(pair, 1);
                receiver.next();
            }
            assertThat(list()).singleElement().satisfies(listed -> {
                assertThat(listed.getReceives()).isEqualTo(2);
                assertThat(listed.getLimit()).isEqualTo(2);
            });

            sendOn(pair, 1);
            receiver.next();
            OpenSessionResponse first = nextEvent();
            sendOn(pair, 1);
            receiver.next();
            assertThat(list())
                    .singleElement()
                    .extracting(SharedReceiveQueue::getLimit)
                    .isEqualTo(0);
            arm(queue, 7);
            receiver.post(receive(1, queue), receive(2, queue));
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            sendOn(pair, 1);
            OpenSessionResponse second = nextEvent();

            assertThat(first.getSharedReceiveQueueLimit().getSharedReceiveQueue())
                    .isEqualTo(queue.getId());
            assertThat(first.getSharedReceiveQueueLimit().getLimit()).isEqualTo(2);
            // The message that came in between was not told of.
            assertThat(second.getSharedReceiveQueueLimit().getLimit()).isEqualTo(7);
            arm(queue, 3);
            arm(queue, 0);
            sendOn(pair, 1);
            receiver.next(2);
        }
        disconnect(pair.there());
        OpenSessionResponse last = server.nextEvent();
        while (last.getConnection().getState() != ConnectionState.CONNECTION_STATE_CLOSED) {
            assertThat(last.hasSharedReceiveQueueLimit()).isFalse();
            last = server.nextEvent();
        }
    }

    @Test
    void aReceiveBeyondTheCapacityIsRefusedUntilAMessageTookOne() {
        SharedReceiveQueue queue = create(2, 0);
        TestSession.Pair pair = client.connectTo(server, using(queue));
        try (TestQueue receiver = server.queue(8)) {
            receiver.credits();
            receiver.post(receive(1, queue), receive(2, queue), receive(3, queue));

            WorkCompletion refused = receiver.next();
            assertThat(refused.getId()).isEqualTo(3);
            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
            assertThat(refused.getMessage()).contains("full with 2 receives").contains("capacity");
            sendOn(pair, 1);
            assertThat(receiver.next().getId()).isEqualTo(1);
            receiver.post(receive(4, queue), receive(5, queue));
            // Refused again, behind the fourth: that one is posted before the messages come.
            assertThat(receiver.next().getId()).isEqualTo(5);
            sendOn(pair, 1);
            sendOn(pair, 1);
            assertThat(receiver.next(2)).extracting(WorkCompletion::getId).containsExactly(2L, 4L);
        }
    }

    @Test
    void aSimpleReceiveIsTakenByTheNextMessageOfAnyConnection() throws Exception {
        SharedReceiveQueue queue = create(2, 0);
        client.connectTo(server, using(queue));
        TestSession.Pair pair = client.connectTo(server, using(queue));
        var receiving = TransferServiceGrpc.newFutureStub(server.channel())
                .receive(ReceiveRequest.newBuilder()
                        .setSession(server.token())
                        .setSharedReceiveQueue(queue.getId())
                        .setWork(ReceiveWork.newBuilder().setId(5).addLocal(sge(target, 0, SLOT)))
                        .build());
        server.device().getDevice(GetDeviceRequest.getDefaultInstance());

        sendOn(pair, 9);

        WorkCompletion completion = receiving.get(20, TimeUnit.SECONDS).getCompletion();
        assertThat(completion.getId()).isEqualTo(5);
        assertThat(completion.getLength()).isEqualTo(9);
        assertThat(completion.getConnection()).isEqualTo(pair.there().getId());
    }

    @Test
    void whatAConnectionThatEndsDidNotTakeIsForTheOthers() {
        SharedReceiveQueue queue = create(4, 0);
        TestSession.Pair ending = client.connectTo(server, using(queue));
        TestSession.Pair staying = client.connectTo(server, using(queue));
        try (TestQueue receiver = server.queue(4)) {
            receiver.credits();
            receiver.post(receive(1, queue), receive(2, queue));
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());

            sendOn(ending, 1);
            disconnect(ending.there());
            sendOn(staying, 2);

            assertThat(receiver.next(2))
                    .extracting(WorkCompletion::getConnection)
                    .containsExactly(ending.there().getId(), staying.there().getId());
        }
        assertThat(list())
                .singleElement()
                .extracting(SharedReceiveQueue::getConnections)
                .isEqualTo(1);
    }

    @Test
    void aMessageThatFindsNoReceiveEndsItsConnectionOnly() {
        SharedReceiveQueue queue = create(4, 0);
        TestSession.Pair greedy = client.connectTo(server, using(queue));
        TestSession.Pair modest = client.connectTo(server, using(queue));
        try (TestQueue receiver = server.queue(4)) {
            receiver.credits();
            receiver.post(receive(1, queue));
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            sendOn(greedy, 1);
            receiver.next();

            sendOn(greedy, 1);
            OpenSessionResponse event = server.nextEvent();
            while (!event.getConnection().hasError()) {
                event = server.nextEvent();
            }
            receiver.post(receive(2, queue));
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            sendOn(modest, 1);

            assertThat(event.getConnection().getConnection())
                    .isEqualTo(greedy.there().getId());
            assertThat(receiver.next().getConnection()).isEqualTo(modest.there().getId());
        }
    }

    @Test
    void itIsDestroyedWhenNoConnectionUsesItAndWhatWasPostedIsFlushed() {
        SharedReceiveQueue queue = create(4, 0);
        TestSession.Pair pair = client.connectTo(server, using(queue));
        TestQueue receiver = server.queue(4);
        receiver.credits();
        receiver.post(receive(1, queue), receive(2, queue));
        server.device().getDevice(GetDeviceRequest.getDefaultInstance());

        Status refused = Waiting.status(() -> destroy(queue));
        assertThat(refused.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(refused.getDescription()).contains("1 connections").contains("disconnect");
        disconnect(pair.there());
        destroy(queue);

        assertThat(receiver.next(2)).allSatisfy(flushed -> {
            assertThat(flushed.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
            assertThat(flushed.getConnection()).isZero();
            assertThat(flushed.getMessage()).contains("destroyed");
        });
        // The receives gave their credits back.
        receiver.halfClose();
        Waiting.join(receiver.completed());
        assertThat(list()).isEmpty();
    }

    @Test
    void aSessionThatEndsWithReceivesOutstandingLeavesNothing() {
        LogLines leaks = LogLines.of(SidecarSession.class.getName());
        try (TestSession other = right.session("other")) {
            SharedReceiveQueue queue = create(4, 2);
            TestSession.Pair pair = client.connectTo(server, using(queue));
            TestQueue receiver = server.queue(4);
            receiver.credits();
            receiver.post(receive(1, queue), receive(2, queue));
            var receiving = TransferServiceGrpc.newFutureStub(server.channel())
                    .receive(ReceiveRequest.newBuilder()
                            .setSession(server.token())
                            .setSharedReceiveQueue(queue.getId())
                            .setWork(ReceiveWork.newBuilder().addLocal(sge(target, 0, SLOT)))
                            .build());
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            assertThat(receiving.isDone()).isFalse();

            server.close();

            ConnectionState state = ConnectionState.CONNECTION_STATE_UNSPECIFIED;
            while (state != ConnectionState.CONNECTION_STATE_CLOSED) {
                OpenSessionResponse event = client.nextEvent();
                assertThat(event.getConnection().getConnection())
                        .isEqualTo(pair.here().getId());
                state = event.getConnection().getState();
            }
            Awaitility.await()
                    .until(() -> other.device()
                                    .listSessions(ListSessionsRequest.getDefaultInstance())
                                    .getSessionsCount()
                            == 1);
            assertThat(other.sharedReceives()
                            .listSharedReceiveQueues(ListSharedReceiveQueuesRequest.getDefaultInstance())
                            .getSharedReceiveQueuesList())
                    .isEmpty();
        } finally {
            // Waits for what sessions still release.
            right.close();
            leaks.close();
        }
        assertThat(leaks.all()).isEmpty();
        right = TestSidecar.start();
        server = right.session("server");
    }
}
