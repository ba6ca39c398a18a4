// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ListenResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of the package's documentation and of clients/java/README.md. */
class ExampleTest {

    @TempDir
    Path directory;

    private FakeSidecar sidecar;

    @BeforeEach
    void start() throws IOException {
        sidecar = new FakeSidecar(directory);
        io.sidewarp.v1.WorkCompletion success =
                FakeTransfer.completion(COMPLETION_STATUS_SUCCESS).build();
        sidecar.transfer.writeCompletion = success;
        sidecar.transfer.readCompletion = success;
        sidecar.transfer.flushCompletion = success;
        sidecar.connections.privateData = ByteString.copyFrom(new RemoteAddress(1, 0).encode());
    }

    @Test
    void documentedExampleRuns() throws IOException {
        try (FakeSidecar running = sidecar) {
            example(running.options());

            assertThat(running.transfer.flushes).hasSize(1);
            assertThat(running.volume.resolve("hello")).exists();
            assertThat(Files.readString(running.volume.resolve("hello"))).startsWith("hello, memory");
        }
    }

    @Test
    void documentedPeerTellsWhereToWrite() throws Exception {
        try (FakeSidecar running = sidecar) {
            CompletableFuture<Void> peer = CompletableFuture.runAsync(() -> peer(running.options()));

            FakeSidecar.next(running.connections.listeners)
                    .onNext(ListenResponse.newBuilder()
                            .setRequest(ConnectionRequest.newBuilder().setId(1))
                            .build());

            byte[] told = FakeSidecar.next(running.connections.accepts)
                    .getPrivateData()
                    .toByteArray();
            assertThat(RemoteAddress.decode(told).stag()).isEqualTo(0xCAFE0000);
            running.nextSession().onCompleted();
            assertThat(peer).failsWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    void documentedQueueWritesAllPieces() throws Exception {
        sidecar.transfer.credits = 64;
        try (FakeSidecar running = sidecar;
                SidewarpClient client = SidewarpClient.connect(running.options());
                Session session = client.openSession("queue");
                SharedRegion region = session.createSharedRegion("pieces", 4096, Access.LOCAL_WRITE);
                Connection connection = session.connect("peer.example", 7471)) {
            RemoteAddress there = RemoteAddress.decode(connection.privateData());
            CompletableFuture<Void> program =
                    CompletableFuture.runAsync(() -> pieces(session, connection, region, there));
            FakeTransfer.FakeQueue queue = FakeSidecar.next(running.transfer.queues);

            List<io.sidewarp.v1.WorkRequest> posted = new ArrayList<>();
            while (posted.size() < 16) {
                posted.addAll(FakeSidecar.next(queue.posts).getWorkList());
            }
            assertThat(posted.getLast().getWrite().getRemote().getTaggedOffset())
                    .isEqualTo(there.taggedOffset() + 15 * 256);
            assertThat(program).isNotDone();
            queue.succeed(posted);
            assertThat(program).succeedsWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    void documentedErrorsSayWhenToRepeat() {
        sidecar.transfer.writeCompletion = FakeTransfer.completion(COMPLETION_STATUS_REMOTE_ACCESS_ERROR)
                .setCode(Status.Code.PERMISSION_DENIED.value())
                .setRetry(io.sidewarp.v1.Retry.RETRY_NEVER)
                .build();
        try (FakeSidecar running = sidecar;
                SidewarpClient client = SidewarpClient.connect(running.options());
                Session session = client.openSession("errors");
                SharedRegion region = session.createSharedRegion("outbox", 4096, Access.LOCAL_WRITE);
                Connection connection = session.connect("peer.example", 7471)) {
            RemoteAddress there = RemoteAddress.decode(connection.privateData());

            assertThatThrownBy(() -> repeatedWhereItHelps(connection, region, there))
                    .isInstanceOf(SidewarpException.class);

            sidecar.transfer.writeCompletion = FakeTransfer.completion(COMPLETION_STATUS_REMOTE_ACCESS_ERROR)
                    .setCode(Status.Code.UNAVAILABLE.value())
                    .setRetry(io.sidewarp.v1.Retry.RETRY_LATER)
                    .build();
            assertThat(repeatedWhereItHelps(connection, region, there)).isEqualTo("later");
        }
    }

    @Test
    void documentedServerPostsItsReceivesAgain() throws Exception {
        sidecar.transfer.credits = 64;
        try (FakeSidecar running = sidecar) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> server(running.options()));
            FakeTransfer.FakeQueue queue = FakeSidecar.next(running.transfer.queues);
            FakeSidecar.next(running.connections.listeners)
                    .onNext(ListenResponse.newBuilder()
                            .setRequest(ConnectionRequest.newBuilder().setId(1))
                            .build());
            long receives = running.sharedReceives.queues.keySet().iterator().next();

            assertThat(FakeSidecar.next(running.connections.accepts)
                            .getOptions()
                            .getSharedReceiveQueue())
                    .isEqualTo(receives);
            List<io.sidewarp.v1.WorkRequest> posted = new ArrayList<>();
            while (posted.size() < 64) {
                posted.addAll(FakeSidecar.next(queue.posts).getWorkList());
            }
            queue.succeed(posted.get(7));
            var again = queue.nextWork();
            assertThat(again.getSharedReceiveQueue()).isEqualTo(receives);
            assertThat(again.getReceive().getLocal(0).getOffset()).isEqualTo(7 * 1024);
            running.nextSession().onCompleted();
            assertThat(server).failsWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    void documentedSupervisedSessionWritesAgainAfterEachFailure() throws Exception {
        try (FakeSidecar running = sidecar) {
            Thread program = Thread.ofVirtual().start(() -> supervised(running.options()));

            for (int session = 0; session < 3; session++) {
                var events = running.nextSession();
                assertThat(FakeSidecar.next(running.connections.connects).getAddress())
                        .isEqualTo("peer.example");
                events.onCompleted();
            }
            program.interrupt();
            assertThat(program.join(Duration.ofSeconds(20))).isTrue();
        }
    }

    // As in README.md, but for the options.
    private static void supervised(ClientOptions options) {
        try (SidewarpClient client = SidewarpClient.connect(options);
                SupervisedSession session = client.supervise("example")
                        .region("outbox", 4096, Access.LOCAL_WRITE)
                        .connect("peer", "peer.example", 7471)
                        .start(
                                state -> { // at first, and after each failure
                                    SharedRegion outbox = state.region("outbox");
                                    Connection peer = state.connection("peer");
                                    peer.write(outbox.slice(0, 13), RemoteAddress.decode(peer.privateData()));
                                    peer.flush();
                                })) {
            assertThat(session).isNotNull();
            Thread.currentThread().join();
        } catch (InterruptedException e) {
            // The test is over.
        }
    }

    // As in README.md.
    private static void pieces(Session session, Connection connection, SharedRegion region, RemoteAddress there) {
        try (WorkQueue queue = session.openQueue(QueueOptions.defaults())) {
            List<CompletableFuture<WorkCompletion>> writes = new ArrayList<>();
            queue.batch(
                    posting -> { // wakes the sidecar once
                        for (int piece = 0; piece < 16; piece++) {
                            WorkRequest write = WorkRequest.write(
                                    connection, there.plus(piece * 256L), region.slice(piece * 256L, 256));
                            writes.add(posting.submit(write));
                        }
                    });
            writes.forEach(write -> write.join().orThrow()); // the region can be used again
        }
    }

    // As in README.md, but for what the cases do.
    private static String repeatedWhereItHelps(Connection connection, SharedRegion region, RemoteAddress there) {
        try {
            connection.write(region.slice(0, 13), there);
            connection.flush();
            return "done";
        } catch (SidewarpException e) {
            return switch (e.retry()) {
                case NEVER -> throw e; // the message says what to change
                case AFTER_RECONNECTING -> "after reconnecting"; // outstanding work may have happened
                case LATER -> "later";
            };
        }
    }

    // As in package-info.java and README.md, but for the options.
    private static void example(ClientOptions options) {
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session session = client.openSession("example");
                SharedRegion region = session.createSharedRegion("hello", 4096, Access.LOCAL_WRITE);
                Connection connection = session.connect("peer.example", 7471)) {
            RemoteAddress there = RemoteAddress.decode(connection.privateData()); // the peer told where to write
            region.buffer().put("hello, memory".getBytes(StandardCharsets.UTF_8));
            connection.write(region.slice(0, 13), there);
            connection.flush(); // the peer has it in memory now
            connection.read(region.slice(2048, 13), there);
        }
    }

    private static void server(ClientOptions options) {
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session session = client.openSession("server");
                SharedRegion region = session.createSharedRegion("messages", 64 * 1024, Access.LOCAL_WRITE);
                WorkQueue queue = session.openQueue(64)) {
            SharedReceiveQueue receives = session.createSharedReceiveQueue(64);
            for (int slot = 0; slot < 64; slot++) {
                queue.post(slot, WorkRequest.receive(receives, region.slice(slot * 1024L, 1024)));
            }
            try (Listener listener = session.listen(
                    "",
                    7471,
                    incoming -> incoming.accept(
                            ConnectionOptions.builder().sharedReceives(receives).build()))) {
                while (true) {
                    WorkCompletion message =
                            queue.poll(Duration.ofHours(1)).orElseThrow().orThrow();
                    // message.length() bytes of connection message.connection() are in slot message.id()
                    queue.post(message.id(), WorkRequest.receive(receives, region.slice(message.id() * 1024, 1024)));
                }
            }
        }
    }

    private static void peer(ClientOptions options) {
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session session = client.openSession("peer");
                SharedRegion region =
                        session.createSharedRegion("inbox", 4096, Access.REMOTE_READ, Access.REMOTE_WRITE);
                Listener listener = session.listen(
                        "",
                        7471,
                        incoming -> incoming.accept(ConnectionOptions.builder()
                                .privateData(region.address().encode())
                                .build()))) {
            listener.closed().join();
        }
    }
}
