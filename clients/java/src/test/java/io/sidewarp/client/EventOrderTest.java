// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.stub.StreamObserver;
import io.sidewarp.client.FakeTransfer.FakeQueue;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.OpenSessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the order of connection events and graceful closes relative to the work on queues. gRPC does not order messages
 * of different calls.
 */
class EventOrderTest extends WorkQueueFixture {

    private final List<String> told = new CopyOnWriteArrayList<>();
    private StreamObserver<OpenSessionResponse> events;

    @BeforeEach
    void listen() throws Exception {
        events = sidecar.nextSession();
        session.onEvent(new SessionListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                told.add(event.state().name());
            }
        });
    }

    private void tell(ConnectionState state, long completions) {
        events.onNext(OpenSessionResponse.newBuilder()
                .setConnection(ConnectionStateChange.newBuilder()
                        .setConnection(connection.id())
                        .setState(state)
                        .setCompletions(completions))
                .build());
    }

    @Test
    void eventFollowsCountedCompletions() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.onCompletion(completion -> told.add("completion " + completion.id()));
        queue.tryPost(1, write);
        var first = server.nextWork();
        queue.tryPost(2, write);
        var second = server.nextWork();

        tell(ConnectionState.CONNECTION_STATE_CLOSED, 2);
        server.succeed(first);
        await().until(() -> !told.isEmpty());
        assertThat(connection.closed()).isNotDone();
        server.succeed(second);

        await().untilAsserted(() -> assertThat(told).containsExactly("completion 1", "completion 2", "CLOSED"));
        assertThat(connection.closed()).succeedsWithin(LONG);
    }

    @Test
    void eventFollowsPolledCompletions() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.tryPost(1, write);
        server.succeed(server.nextWork());
        await().until(() -> queue.available() < queue.credits());

        tell(ConnectionState.CONNECTION_STATE_CLOSING, 1);
        assertThat(queue.poll(LONG)).isPresent();

        await().untilAsserted(() -> assertThat(told).containsExactly("CLOSING"));
    }

    @Test
    void eventArrivesWithoutQueueReader() throws Exception {
        session.openQueue(0);

        tell(ConnectionState.CONNECTION_STATE_CLOSING, 5);
        tell(ConnectionState.CONNECTION_STATE_CLOSED, 5);

        await().untilAsserted(() -> assertThat(told).containsExactly("CLOSING", "CLOSED"));
    }

    @Test
    void sessionLossFollowsWaitingEvents() throws Exception {
        session.onEvent(new SessionListener() {
            @Override
            public void lost(SidewarpException cause) {
                told.add("lost");
            }
        });
        tell(ConnectionState.CONNECTION_STATE_TERMINATED, 5);
        events.onCompleted();

        await().untilAsserted(() -> assertThat(told).containsExactly("TERMINATED", "lost"));
    }

    @Test
    void disconnectCountsPostedWork() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.tryPost(1, write);
        queue.tryPost(2, write.unsignaled());
        server.succeed(FakeSidecar.next(server.posts).getWork(0));

        connection.disconnect();

        DisconnectRequest request = FakeSidecar.next(sidecar.connections.disconnects);
        assertThat(request.getAfterPosts()).isEqualTo(2);
    }

    @Test
    void abortCountsNoWork() throws Exception {
        WorkQueue queue = session.openQueue(0);
        queue.tryPost(1, write);

        connection.abort();

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAfterPosts())
                .isZero();
    }

    @Test
    void disconnectDoesNotCountLostWork() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        queue.post(1, write);
        server.succeed(server.nextWork());
        assertThat(queue.poll(LONG)).isPresent();
        queue.post(2, write);

        queue.close();
        await().until(() -> server.cancelled.getCount() == 0);
        connection.disconnect();

        assertThat(FakeSidecar.next(sidecar.connections.disconnects).getAfterPosts())
                .isOne();
    }

    @Test
    void disconnectInBatchSendsBatchedWork() throws Exception {
        WorkQueue queue = session.openQueue(0);
        FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);

        queue.batch(posting -> {
            posting.post(1, write, Duration.ZERO);
            connection.disconnectAsync().join();
        });

        assertThat(server.nextWork().getConnection()).isEqualTo(connection.id());
    }
}
