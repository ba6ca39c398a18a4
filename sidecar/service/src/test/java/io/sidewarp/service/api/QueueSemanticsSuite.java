// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.service.testing.PostedWork;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the semantics of a work queue, over any path. transfer.proto defines the semantics. */
abstract class QueueSemanticsSuite extends TwoSidecars {

    static final int SIZE = 64;

    Region source;
    Region inbox;
    long connection;
    long accepted;
    private Region sink;
    private Region target;

    @BeforeEach
    void connect() {
        source = client.managed(SIZE);
        sink = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        inbox = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        connection = pair.here().getId();
        accepted = pair.there().getId();
    }

    /** Opens a queue that takes as much work at a time, or more. */
    abstract PostedWork open(TestSession session, int credits);

    WorkRequest.Builder write(long id) {
        return write(id, connection);
    }

    WorkRequest.Builder write(long id, long on) {
        return Works.write(id, on, source, target, 8);
    }

    WorkRequest silent(long id, long on) {
        return write(id, on).setUnsignaled(true).build();
    }

    WorkRequest inboxReceive(long id) {
        return receive(id, accepted, inbox, 0, 16).build();
    }

    static void assertSucceeded(List<WorkCompletion> completions) {
        assertThat(completions)
                .extracting(WorkCompletion::getStatus)
                .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
    }

    // Order and credits.

    @Test
    void sendWorkCompletesInTheOrderOfPosting() {
        try (PostedWork queue = open(client, 8)) {
            queue.post(
                    write(1).build(),
                    read(2, connection, sink, target, 8).build(),
                    write(3).build(),
                    read(4, connection, sink, target, 8).build());

            assertThat(queue.next(4)).extracting(WorkCompletion::getId).containsExactly(1L, 2L, 3L, 4L);
        }
    }

    @Test
    void moreWorkThanCreditsIsHeldBackAndCarriedOutInOrder() {
        try (PostedWork queue = open(client, 3)) {
            List<WorkRequest> work = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                work.add(write(i).build());
            }

            queue.post(work.subList(0, 400));
            queue.post(work.subList(400, 500));

            List<WorkCompletion> completions = queue.next(500);
            assertSucceeded(completions);
            assertThat(completions)
                    .extracting(WorkCompletion::getId)
                    .containsExactlyElementsOf(LongStream.range(0, 500).boxed().toList());
        }
    }

    @Test
    void moreRefusedWorkThanCreditsIsTold() {
        try (PostedWork queue = open(client, 2)) {
            queue.post(Collections.nCopies(100, write(7, 4711).build()));

            assertThat(queue.next(100))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
        }
    }

    @Test
    void workBehindReceivesThatHoldAllCreditsWaitsForTheirMessages() {
        try (PostedWork queue = open(server, 2);
                PostedWork sender = open(client, 2)) {
            queue.post(inboxReceive(1), inboxReceive(2), inboxReceive(3));
            sender.post(send(1, connection, source, 8).build());
            assertThat(queue.next().getId()).isEqualTo(1);

            sender.post(
                    send(2, connection, source, 8).build(),
                    send(3, connection, source, 8).build());
            assertThat(queue.next(2)).extracting(WorkCompletion::getId).containsExactly(2L, 3L);
        }
    }

    @Test
    void refusedWorkCompletesAheadAndTheRestGoesOn() {
        try (PostedWork queue = open(client, 4)) {
            queue.post(
                    write(1, 4711).build(),
                    WorkRequest.newBuilder().setId(2).setConnection(connection).build(),
                    write(3).build());

            assertThat(queue.next(3)).extracting(WorkCompletion::getId).containsExactly(1L, 2L, 3L);
        }
    }

    // Unsignaled work.

    @Test
    void aCompletionBringsTheCreditsOfUnsignaledWorkBack() {
        try (PostedWork queue = open(client, 4)) {
            for (int round = 0; round < 50; round++) {
                queue.post(silent(1, connection), silent(2, connection), silent(3, connection), write(4).build());
                assertThat(queue.next().getId()).isEqualTo(4);
            }
            assertThat(queue.isEmpty()).isTrue();
        }
    }

    @Test
    void anyCompletionBringsTheCreditsOfAConnectionThatEndedBack() {
        long other = client.connectTo(server).here().getId();
        try (PostedWork queue = open(client, 4)) {
            queue.post(Collections.nCopies(3, silent(1, connection)));
            disconnect(3);
            queue.post(write(2, other).build());
            assertThat(queue.next().getId()).isEqualTo(2);

            queue.post(Collections.nCopies(3, silent(3, other)));
            queue.post(write(4, other).build());

            assertThat(queue.next().getId()).isEqualTo(4);
        }
    }

    @Test
    void unsignaledWorkBeyondTheCreditsIsCarriedOutWhereOneOfAsManyIsSignaled() {
        try (PostedWork queue = open(client, 4)) {
            List<WorkRequest> work = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                work.add(i % 4 == 3 ? write(i).build() : silent(i, connection));
            }

            queue.post(work);

            assertThat(queue.next(100))
                    .extracting(WorkCompletion::getId)
                    .containsExactlyElementsOf(
                            LongStream.range(0, 100).map(i -> i * 4 + 3).boxed().toList());
            Awaitility.await().until(() -> written() == 400);
        }
    }

    private long written() {
        return client.listConnections().getFirst().getCounters().getWritesSent();
    }

    // Events.

    @Test
    void eventsSayHowManyCompletionsComeBeforeThem() {
        try (PostedWork queue = open(server, 20);
                PostedWork sender = open(client, 20)) {
            for (int i = 0; i < 12; i++) {
                queue.post(inboxReceive(i));
            }
            server.listConnections();
            for (int i = 0; i < 10; i++) {
                sender.post(send(i, connection, source, 8).build());
            }
            disconnect(10);

            List<ConnectionStateChange> changes = changesUntilClosed();

            assertThat(changes.getLast().getCompletions()).isEqualTo(12);
            for (ConnectionStateChange change : changes) {
                if (change.getState() == ConnectionState.CONNECTION_STATE_CLOSING) {
                    assertThat(change.getCompletions()).isEqualTo(10);
                }
            }
            assertSucceeded(queue.next(10));
            assertThat(queue.next(2))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_FLUSHED);
        }
    }

    @Test
    void theEventOfAnErrorComesBehindTheMessagesThatWereReceived() {
        try (PostedWork queue = open(server, 20);
                PostedWork sender = open(client, 20)) {
            queue.post(inboxReceive(0), inboxReceive(1), inboxReceive(2));
            server.listConnections();
            sender.post(
                    send(0, connection, source, 8).build(),
                    send(1, connection, source, 8).build(),
                    Works.write(2, connection, source, inbox, 8).build());

            List<ConnectionStateChange> changes = changesUntilClosed();

            ConnectionStateChange terminated = changes.stream()
                    .filter(change -> change.getState() == ConnectionState.CONNECTION_STATE_TERMINATED)
                    .findFirst()
                    .orElseThrow();
            assertThat(terminated.getCompletions()).isEqualTo(3);
            assertThat(queue.next(3))
                    .extracting(WorkCompletion::getStatus)
                    .containsExactly(
                            CompletionStatus.COMPLETION_STATUS_SUCCESS,
                            CompletionStatus.COMPLETION_STATUS_SUCCESS,
                            CompletionStatus.COMPLETION_STATUS_FLUSHED);
        }
    }

    @Test
    void refusedWorkCountsAsCompletedForEvents() {
        try (PostedWork queue = open(server, 4)) {
            queue.post(WorkRequest.newBuilder().setId(1).setConnection(accepted).build());
            queue.next();
            disconnect(0);

            assertThat(changesUntilClosed().getLast().getCompletions()).isOne();
        }
    }

    private List<ConnectionStateChange> changesUntilClosed() {
        List<ConnectionStateChange> changes = new ArrayList<>();
        do {
            changes.add(server.nextEvent().getConnection());
        } while (changes.getLast().getState() != ConnectionState.CONNECTION_STATE_CLOSED);
        return changes;
    }

    // Disconnect.

    private DisconnectRequest.Builder disconnectBehind(long posts) {
        return DisconnectRequest.newBuilder()
                .setSession(client.token())
                .setConnection(connection)
                .setAfterPosts(posts);
    }

    private void disconnect(long posts) {
        client.connections().disconnect(disconnectBehind(posts).build());
    }

    @Test
    void disconnectComesBehindTheWorkThatItNames() {
        try (PostedWork queue = open(client, 8)) {
            queue.post(write(1).build());
            CompletableFuture<Void> closing =
                    CompletableFuture.runAsync(() -> disconnect(3), Thread::startVirtualThread);
            queue.next();
            assertThat(state()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);

            queue.post(write(2).build(), write(3).build());

            assertSucceeded(queue.next(2));
            Waiting.join(closing);
            assertThat(client.listConnections()).isEmpty();
        }
    }

    @Test
    void disconnectFailsAndLeavesTheConnectionOpenWhenPostsStayOut() {
        try (PostedWork queue = open(client, 8)) {
            queue.post(write(1).build());

            Status status = Waiting.status(() -> disconnect(2));

            assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(status.getDescription()).contains("after_posts is 2, but only 1 work requests");
            queue.post(write(2).build());
            assertSucceeded(queue.next(2));
            disconnect(2);
        }
    }

    @Test
    void refusedWorkAndReceivesCountAsPosted() {
        try (PostedWork queue = open(client, 8)) {
            queue.post(
                    WorkRequest.newBuilder().setId(1).setConnection(connection).build(),
                    receive(2, connection, sink, 0, 8).build());

            disconnect(2);

            assertThat(queue.next(2)).extracting(WorkCompletion::getId).containsExactly(1L, 2L);
        }
    }

    @Test
    void anAbortEndsTheWaitForPosts() {
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> disconnect(1), Thread::startVirtualThread);

        client.connections().disconnect(disconnectBehind(1).setAbort(true).build());

        Waiting.join(closing.exceptionally(late -> null));
        assertThat(client.listConnections()).isEmpty();
    }

    @Test
    void disconnectWaitsForWorkThatAFullSendQueueHoldsBack() {
        TestSession.Pair narrow = client.connectTo(server, ConnectionOptions.getDefaultInstance());
        try (PostedWork queue = open(client, 2)) {
            queue.post(Collections.nCopies(100, write(1, narrow.here().getId()).build()));

            client.connections()
                    .disconnect(disconnectBehind(100)
                            .setConnection(narrow.here().getId())
                            .build());

            assertSucceeded(queue.next(100));
        }
    }

    private ConnectionState state() {
        return client.listConnections().stream()
                .filter(candidate -> candidate.getId() == connection)
                .map(Connection::getState)
                .findFirst()
                .orElseThrow();
    }
}
