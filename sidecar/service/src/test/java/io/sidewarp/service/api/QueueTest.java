// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the Queue call over two sidecars. */
class QueueTest extends TwoSidecars {

    private static final int SIZE = 4096;

    private Region source;
    private Region sink;
    private Region target;

    @BeforeEach
    void prepare() {
        source = client.managed(SIZE);
        sink = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        target = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        client.store(source.getId(), 0, TransferTest.random(SIZE), SIZE);
    }

    @Test
    void pipelinedWorkCompletesInTheOrderOfPosting() {
        long connection = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(100)) {
            assertThat(queue.credits()).isEqualTo(100);
            for (int round = 0; round < 20; round++) {
                List<WorkRequest> work = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    long id = round * 100L + i * 2L;
                    work.add(write(id, connection, source, target, SIZE).build());
                    work.add(read(id + 1, connection, sink, target, SIZE).build());
                }
                queue.post(work);

                List<WorkCompletion> completions = queue.next(100);
                assertThat(completions)
                        .extracting(WorkCompletion::getStatus)
                        .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                assertThat(completions)
                        .extracting(WorkCompletion::getId)
                        .containsExactlyElementsOf(LongStream.range(round * 100L, round * 100L + 100)
                                .boxed()
                                .toList());
            }
        }
        assertThat(client.load(sink.getId(), 0, 0)).isEqualTo(client.load(source.getId(), 0, 0));
    }

    @Test
    void completionsComeInFewMessages() {
        long connection = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(200)) {
            queue.credits();
            List<WorkRequest> work = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                work.add(write(i, connection, source, target, 8).build());
            }
            queue.post(work);
            queue.next(200);

            assertThat(queue.messages()).isLessThan(100);
        }
    }

    @Test
    void workWaitsWhileTheSendQueueOfItsConnectionIsFull() {
        TestSession.Pair pair = connect(ConnectionOptions.newBuilder().setSendQueue(4));
        try (TestQueue queue = client.queue(500)) {
            queue.credits();
            List<WorkRequest> work = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                work.add(write(i, pair.here().getId(), source, target, SIZE).build());
            }
            queue.post(work);

            assertThat(queue.next(500))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    @Test
    void afterAHalfCloseTheCallEndsWhenAllWorkIsComplete() {
        TestSession.Pair pair = client.connectTo(server);
        TestQueue queue = client.queue(10);
        queue.credits();
        queue.post(
                write(1, pair.here().getId(), source, target, SIZE).build(),
                read(2, pair.here().getId(), sink, target, SIZE).build());
        queue.halfClose();

        assertThat(queue.next(2)).extracting(WorkCompletion::getId).containsExactly(1L, 2L);
        Waiting.join(queue.completed());
    }

    @Test
    void unsignaledWorkGivesNoCompletionWhenItSucceeds() {
        long connection = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(4)) {
            queue.credits();
            for (int i = 0; i < 100; i++) {
                queue.post(
                        write(1, connection, source, target, 8)
                                .setUnsignaled(true)
                                .build(),
                        write(2, connection, source, target, 8)
                                .setUnsignaled(true)
                                .build(),
                        write(3, connection, source, target, 8).build());
                assertThat(queue.next().getId()).isEqualTo(3);
            }
            assertThat(queue.isEmpty()).isTrue();
        }
    }

    @Test
    void refusedWorkCompletesWithTheReasonAndTheRestGoesOn() {
        long connection = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(10)) {
            queue.credits();
            queue.post(
                    write(1, 4711, source, target, 8).build(),
                    write(2, connection, source, target, SIZE + 1).build(),
                    WorkRequest.newBuilder().setId(3).setConnection(connection).build(),
                    write(4, connection, source, target, 8).build());

            List<WorkCompletion> completions = new ArrayList<>(queue.next(4));
            completions.sort(java.util.Comparator.comparingLong(WorkCompletion::getId));
            assertThat(completions)
                    .extracting(WorkCompletion::getStatus)
                    .containsExactly(
                            CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST,
                            CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR,
                            CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST,
                            CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(completions.get(0).getMessage()).contains("connection 4711");
            assertThat(completions.get(1).getMessage()).contains("which has 4096 bytes");
            assertThat(completions.get(2).getMessage()).contains("names no work");
        }
    }

    @Test
    void messagesFillReceivesInTheOrderOfPosting() {
        try (TestQueue receiver = server.queue(10);
                TestQueue sender = client.queue(10)) {
            assertThat(receiver.credits()).isEqualTo(10);
            TestSession.Pair pair =
                    client.connectTo(server, receiver, receive(1, 0, target, 0, 16), receive(2, 0, target, 16, 16));
            receiver.post(receive(3, pair.there().getId(), target, 32, 16).build());
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            sender.credits();
            sender.post(
                    send(1, pair.here().getId(), source, 10).build(),
                    send(2, pair.here().getId(), source, 11).build(),
                    send(3, pair.here().getId(), source, 12).build());

            List<WorkCompletion> received = receiver.next(3);
            assertThat(received).extracting(WorkCompletion::getId).containsExactly(1L, 2L, 3L);
            assertThat(received).extracting(WorkCompletion::getLength).containsExactly(10L, 11L, 12L);
            assertThat(received).extracting(WorkCompletion::getOpcode).containsOnly(Opcode.OPCODE_RECEIVE);
        }
    }

    @Test
    void workOutstandingIsFlushedWhenTheConnectionEnds() {
        TestSession.Pair pair = client.connectTo(server);
        try (TestQueue queue = server.queue(10)) {
            queue.credits();
            queue.post(
                    receive(1, pair.there().getId(), target, 0, 16).build(),
                    receive(2, pair.there().getId(), target, 0, 16).build());
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            client.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(pair.here().getId())
                            .build());

            assertThat(queue.next(2))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_FLUSHED);
        }
    }

    @Test
    void workForAConnectionThatEndedIsFlushed() {
        TestSession.Pair pair = client.connectTo(server);
        client.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(pair.here().getId())
                        .build());
        Awaitility.await().until(() -> server.listConnections().isEmpty());
        try (TestQueue queue = server.queue(10)) {
            queue.credits();
            queue.post(receive(1, pair.there().getId(), target, 0, 16).build());

            WorkCompletion refused = queue.next();
            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
            assertThat(refused.getMessage()).contains("has ended: closed by the peer");
        }
    }

    @Test
    void whatAClosingConnectionRefusesCompletesBehindTheUnsignaledWorkAndGivesItsCreditsBack() {
        int large = 32 << 20;
        Region from = client.shared("from", large);
        Region to = server.shared("to", large, Access.ACCESS_REMOTE_WRITE);
        long closing = client.connectTo(server).here().getId();
        long other = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(9)) {
            queue.credits();
            queue.post(Collections.nCopies(
                    8, write(1, closing, from, to, large).setUnsignaled(true).build()));
            CompletableFuture<?> disconnecting = CompletableFuture.supplyAsync(() -> client.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(closing)
                            .build()));
            // Both connections are established, and one is closing.
            assertThat(Stream.generate(() -> client.nextEvent().getConnection().getState())
                            .limit(3))
                    .contains(ConnectionState.CONNECTION_STATE_CLOSING);

            queue.post(write(2, closing, source, target, SIZE).build());

            WorkCompletion refused = queue.next();
            assertThat(refused.getId()).isEqualTo(2);
            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
            queue.post(
                    Collections.nCopies(9, write(3, other, source, target, SIZE).build()));
            assertThat(queue.next(9))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            Waiting.join(disconnecting);
        }
    }

    @Test
    void aQueueThatDiesLeavesTheConnectionAndItsWorkAlone() {
        TestSession.Pair pair = client.connectTo(server);
        TestQueue dying = client.queue(10);
        dying.credits();
        dying.post(write(1, pair.here().getId(), source, target, SIZE).build());
        dying.close();

        try (TestQueue queue = client.queue(10)) {
            queue.credits();
            queue.post(read(2, pair.here().getId(), sink, target, SIZE).build());
            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    @Test
    void aSecondOpenIsRefused() {
        try (TestQueue queue = client.queue(1)) {
            queue.credits();

            queue.send(TestQueue.open(client.token(), 2));

            Status status = Status.fromThrowable(Waiting.join(queue.failed()));
            assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(status.getDescription()).contains("open occurs again");
        }
    }

    @Test
    void aRequestOfAnUnknownKindIsRefused() {
        UnknownFieldSet kind = UnknownFieldSet.newBuilder()
                .addField(
                        3,
                        UnknownFieldSet.Field.newBuilder()
                                .addLengthDelimited(ByteString.EMPTY)
                                .build())
                .build();
        try (TestQueue queue = client.queue(1)) {
            queue.credits();

            queue.send(QueueRequest.newBuilder().setUnknownFields(kind).build());

            Status status = Status.fromThrowable(Waiting.join(queue.failed()));
            assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(status.getDescription()).contains("must be post");
        }
    }

    @Test
    void aQueueOfAnUnknownSessionIsRefused() {
        TestQueue queue = new TestQueue(client.channel(), "no-such-session", 1);

        assertThat(Status.fromThrowable(Waiting.join(queue.failed())).getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
    }

    private TestSession.Pair connect(ConnectionOptions.Builder options) {
        try (TestSession.Listening listening = server.listen()) {
            var connecting = client.connect(
                    client.connectRequest(listening.port()).setOptions(options).build());
            var accepted = server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build())
                    .getConnection();
            return new TestSession.Pair(Waiting.join(connecting), accepted);
        }
    }
}
