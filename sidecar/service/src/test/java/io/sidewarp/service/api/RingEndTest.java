// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Duration;
import io.grpc.stub.StreamObserver;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestRings;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DestroyRingResponse;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests rings that end, or lose their file, while other calls or work continue. */
final class RingEndTest extends TwoSidecars {

    private static final int SIZE = 4096;
    private static final int ENTRIES = 16;

    private Region source;
    private Region target;
    private Region inbox;
    private long connection;
    private long accepted;

    @Override
    TestSidecar startLeft() {
        return TestSidecar.start("sidewarp.event-loops", "2");
    }

    @BeforeEach
    void connect() {
        source = client.managed(SIZE);
        target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
        inbox = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        connection = pair.here().getId();
        accepted = pair.there().getId();
    }

    private static RingServiceGrpc.RingServiceBlockingStub service(TestSession session) {
        return RingServiceGrpc.newBlockingStub(session.channel()).withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    /** Calls DestroyRing on this thread, so that the sidecar receives this call before later ones. */
    private CompletableFuture<Void> destroy(long ring) {
        DestroyRingRequest request = DestroyRingRequest.newBuilder()
                .setSession(client.token())
                .setRing(ring)
                .build();
        CompletableFuture<Void> destroyed = new CompletableFuture<>();
        RingServiceGrpc.newStub(client.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .destroyRing(request, new StreamObserver<>() {
                    @Override
                    public void onNext(DestroyRingResponse response) {
                        // The end of the call completes the result.
                    }

                    @Override
                    public void onError(Throwable failure) {
                        destroyed.completeExceptionally(failure);
                    }

                    @Override
                    public void onCompleted() {
                        destroyed.complete(null);
                    }
                });
        return destroyed;
    }

    private static void cutShort(TestSidecar sidecar, RingFile file) {
        try (RandomAccessFile access = new RandomAccessFile(
                sidecar.sharedVolume().resolve(file.getPath()).toFile(), "rw")) {
            access.setLength(0);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Fills the completion ring, so that more work waits in the send ring. */
    private void postMoreThanHasRoom(TestRings rings) {
        for (int i = 0; i < 2 * ENTRIES; i++) {
            rings.post(write(i, connection, source, target, 8).build());
        }
        Awaitility.await()
                .until(() -> rings.sends().refresh() == ENTRIES
                        && rings.completions().isReady());
    }

    @Test
    void closeSessionCarriesOutTheEntriesOfAClosedSocket() {
        int count = 200;
        byte[] data = new byte[SIZE];
        Arrays.fill(data, (byte) 7);
        client.store(source.getId(), 0, data, SIZE);
        long narrow = client.connectTo(
                        server, ConnectionOptions.newBuilder().setSendQueue(4).build())
                .here()
                .getId();
        TestRings rings = new TestRings(left, client, 256);
        for (int i = 0; i < count; i++) {
            rings.post(
                    write(i, narrow, source, target, i == count - 1 ? SIZE : 8).build());
        }
        rings.close();

        closeSession(10);

        assertThat(server.load(target.getId(), 0, SIZE)).isEqualTo(data);
    }

    @Test
    void closeSessionFailsWhenEntriesAreLeft() {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            postMoreThanHasRoom(rings);

            assertThatThrownBy(() -> closeSession(1))
                    .hasMessageContaining("ABORTED")
                    .hasMessageContaining("had entries that were not carried out, because completion ring");
        }
    }

    private void closeSession(long graceSeconds) {
        DeviceServiceGrpc.newBlockingStub(client.channel())
                .closeSession(CloseSessionRequest.newBuilder()
                        .setSession(client.token())
                        .setGrace(Duration.newBuilder().setSeconds(graceSeconds))
                        .build());
    }

    @Test
    void consumerOfSolicitedCompletionsIsWokenWhenTheRingIsFull() {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            assertThat(rings.completions().arm(RingLayout.WAITS_FOR_SOLICITED)).isFalse();

            for (int i = 0; i < 2 * ENTRIES; i++) {
                rings.post(write(i, connection, source, target, 8).build());
            }

            Awaitility.await()
                    .until(() -> rings.nextRecord() == RingRecord.WAKE
                            && rings.completions().isReady());
            assertThat(rings.next(2 * ENTRIES)).hasSize(2 * ENTRIES);
        }
    }

    @Test
    void destroyedRingPostsAllWhileItsCompletionRingIsDrained() {
        for (int round = 0; round < 20; round++) {
            try (TestRings rings = new TestRings(left, client, ENTRIES)) {
                for (int i = 0; i < 2 * ENTRIES; i++) {
                    rings.post(write(i, connection, source, target, 8).build());
                }
                CompletableFuture<Void> destroyed = destroy(rings.sendRing().getId());

                assertThat(rings.next(2 * ENTRIES))
                        .extracting(WorkCompletion::getStatus)
                        .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                Waiting.join(destroyed);
            }
        }
    }

    private static void awaitCall(CompletableFuture<Void> call, TestRings rings) {
        Awaitility.await().until(() -> {
            while (!rings.isEmpty()) {
                rings.next();
            }
            return call.isDone();
        });
        Waiting.join(call);
    }

    @Test
    void aRingThatIsDestroyedPostsWhatStandsInIt() {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            postMoreThanHasRoom(rings);
            CompletableFuture<Void> destroyed = destroy(rings.sendRing().getId());

            List<WorkCompletion> completions = rings.next(2 * ENTRIES);

            assertThat(completions)
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            Waiting.join(destroyed);
        }
    }

    @Test
    void aDestroyReturnsWhenTheFileIsCutShortMeanwhile() {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            postMoreThanHasRoom(rings);
            CompletableFuture<Void> destroyed = destroy(rings.sendRing().getId());
            client.listConnections();
            cutShort(left, rings.sendRing().getFile());

            awaitCall(destroyed, rings);
        }
    }

    @Test
    void aDestroyReturnsWhenTheQueueEndsMeanwhile() {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            postMoreThanHasRoom(rings);
            CompletableFuture<Void> first = destroy(rings.sendRing().getId());
            CompletableFuture<Void> second = destroy(rings.sendRing().getId());
            client.listConnections();

            Waiting.join(destroy(rings.completionRing().getId()));

            Waiting.join(first);
            Waiting.join(second);
        }
    }

    @Test
    void aRingThatIsFilledForEverCanBeDestroyed() throws InterruptedException {
        try (TestRings rings = new TestRings(left, client, ENTRIES)) {
            MemorySegment file = rings.sends().file();
            rings.entry()
                    .opcode(WorkEntryFlyweight.OPCODE_FLUSH)
                    .connection(4711)
                    .blocks(1);
            for (int i = 0; i < ENTRIES; i++) {
                MemorySegment.copy(
                        rings.entry()
                                .opcode(WorkEntryFlyweight.OPCODE_FLUSH)
                                .blocks(1)
                                .segment(),
                        0,
                        file,
                        RingLayout.DATA_OFFSET + (long) i * RingLayout.BLOCK_SIZE,
                        RingLayout.BLOCK_SIZE);
            }
            Thread filler = Thread.ofPlatform().daemon().start(() -> fill(file));

            Waiting.join(destroy(rings.completionRing().getId()));

            filler.interrupt();
            filler.join();
        }
    }

    /** Writes the sequences of the next blocks repeatedly. */
    private static void fill(MemorySegment file) {
        while (!Thread.currentThread().isInterrupted()) {
            long consumed = file.get(ValueLayout.JAVA_LONG, RingLayout.CONSUMED_OFFSET);
            for (long block = consumed; block < consumed + ENTRIES; block++) {
                file.set(
                        ValueLayout.JAVA_LONG,
                        RingLayout.DATA_OFFSET + block % ENTRIES * RingLayout.BLOCK_SIZE,
                        block + 1);
            }
        }
    }

    @Test
    void aMessageTakesAReceiveBesideARingThatIsCutShort() {
        try (TestRings broken = new TestRings(right, server, ENTRIES);
                TestRings receiver = new TestRings(right, server, ENTRIES);
                TestRings sender = new TestRings(left, client, ENTRIES)) {
            Awaitility.await().until(() -> isAsleep(broken) && isAsleep(receiver));
            cutShort(right, broken.receiveRing().getFile());
            // The sidecar sleeps and is not woken: only the want of a receive has it look.
            receiver.publish(receive(1, accepted, inbox, 0, 64).build());

            sender.post(send(2, connection, source, 8).build());

            assertThat(receiver.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    private static boolean isAsleep(TestRings rings) {
        return rings.receives().file().get(ValueLayout.JAVA_INT, RingLayout.CONSUMER_WAITS_OFFSET) != 0;
    }

    @Test
    void aCompletionRingThatIsCutShortKeepsNoCompletionsFromOthers() {
        try (TestRings broken = new TestRings(right, server, ENTRIES);
                TestRings others = new TestRings(right, server, ENTRIES)) {
            broken.post(receive(1, accepted, inbox, 0, 64).build());
            Awaitility.await().until(() -> broken.receives().refresh() == 0);
            others.post(receive(2, accepted, inbox, 64, 64).build());
            Awaitility.await().until(() -> others.receives().refresh() == 0);
            cutShort(right, broken.completionRing().getFile());

            client.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(connection)
                            .build());

            WorkCompletion flushed = others.next();
            assertThat(flushed.getId()).isEqualTo(2);
            assertThat(flushed.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
            Awaitility.await().until(() -> server.listConnections().isEmpty());
        }
    }

    @Test
    void aWakeThatComesTogetherWithHelloIsServed() throws IOException {
        // The sockets are accepted by the loops in turn.
        for (int i = 0; i < 4; i++) {
            CompletionRing ring = service(client)
                    .createCompletionRing(CreateCompletionRingRequest.newBuilder()
                            .setSession(client.token())
                            .setEntries(ENTRIES)
                            .build())
                    .getCompletionRing();
            ByteBuffer records = ByteBuffer.allocate(RingRecord.MAX_LENGTH);
            records.put(RingRecord.of(RingRecord.HELLO, 0, ring.getToken().toByteArray()));
            records.put(RingRecord.of(RingRecord.WAKE, ring.getId())).flip();
            try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                socket.connect(UnixDomainSocketAddress.of(left.socket().resolveSibling(ring.getSocket())));
                socket.write(records);

                assertThat(nextType(socket)).isEqualTo(RingRecord.WELCOME);
                CompletableFuture<Void> destroyed = destroy(ring.getId());
                assertThat(nextType(socket)).isEqualTo(RingRecord.END);
                Waiting.join(destroyed);
            }
        }
    }

    private static int nextType(SocketChannel socket) throws IOException {
        ByteBuffer record = ByteBuffer.allocate(RingRecord.MAX_LENGTH).order(ByteOrder.nativeOrder());
        record.limit(RingRecord.HEADER);
        while (record.hasRemaining()) {
            if (socket.read(record) < 0) {
                return -1;
            }
        }
        record.limit(record.getInt(RingRecord.LENGTH_OFFSET));
        while (record.hasRemaining() && socket.read(record) >= 0) {
            Thread.onSpinWait();
        }
        return record.getShort(RingRecord.TYPE_OFFSET);
    }

    @Test
    void aSessionThatEndsWaitsForRingsThatAreBeingCreated() {
        try (LogLines lines = LogLines.warnings("io.sidewarp.service.session")) {
            for (int i = 0; i < 30; i++) {
                TestSession session = left.session("short");
                RingServiceGrpc.newFutureStub(session.channel())
                        .createCompletionRing(CreateCompletionRingRequest.newBuilder()
                                .setSession(session.token())
                                .build());
                session.close();
            }
            Awaitility.await().until(() -> left.sidecar().sessions().count() == 1);
            Awaitility.await()
                    .until(() ->
                            left.sharedVolume().toFile().list((directory, name) -> name.contains("ring")).length == 0);
            assertThat(lines.all()).isEmpty();
        }
    }
}
