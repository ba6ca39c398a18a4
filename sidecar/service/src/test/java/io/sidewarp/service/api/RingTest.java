// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.service.testing.TestRings;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WorkRingKind;
import io.sidewarp.v1.WriteRequest;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests rings in shared memory, as docs/rings.md describes them. */
final class RingTest extends TwoSidecars {

    private static final int SIZE = 4096;

    private Region source;
    private Region sink;
    private Region target;
    private Region inbox;
    private long connection;
    private long accepted;

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

    @Test
    void workCompletesInTheOrderOfPosting() {
        client.store(source.getId(), 0, "hello".getBytes(StandardCharsets.UTF_8), SIZE);
        try (TestRings rings = new TestRings(left, client, 16)) {
            rings.post(
                    write(1, connection, source, target, 5).build(),
                    read(2, connection, sink, target, 5).build(),
                    write(3, connection, source, target, 5).build());

            List<WorkCompletion> completions = rings.next(3);

            assertThat(completions).extracting(WorkCompletion::getId).containsExactly(1L, 2L, 3L);
            assertThat(completions)
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(client.load(sink.getId(), 0, 5)).asString().isEqualTo("hello");
        }
    }

    @Test
    void workBeyondTheRoomOfTheCompletionRingWaits() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            for (int round = 0; round < 20; round++) {
                long first = round * 16L;
                for (int i = 0; i < 16; i++) {
                    rings.post(write(first + i, connection, source, target, 8).build());
                }
                Awaitility.await().until(() -> rings.sends().refresh() == 0);
                for (int i = 16; i < 30; i++) {
                    rings.post(write(first + i, connection, source, target, 8).build());
                }
                assertThat(rings.next(30))
                        .extracting(WorkCompletion::getId)
                        .containsExactlyElementsOf(
                                LongStream.range(first, first + 30).boxed().toList());
            }
        }
    }

    @Test
    void receivesLeaveRoomForSendWork() {
        try (TestRings rings = new TestRings(right, server, 16)) {
            for (int i = 0; i < 16; i++) {
                rings.post(receive(i, accepted, inbox, 0, 64).build());
            }
            Awaitility.await().until(() -> rings.receives().refresh() == 1);

            Region outbox = server.managed(SIZE);
            Region there = client.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
            // The peer's first message permits the accepting side to send.
            client.transfer()
                    .write(WriteRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(connection)
                            .setWork(write(0, connection, source, target, 8).getWrite())
                            .build());
            rings.post(write(100, accepted, outbox, there, 8).build());

            assertThat(rings.next().getId()).isEqualTo(100);
        }
    }

    @Test
    void aMessageTakesAReceiveThatStandsInTheRing() {
        try (TestRings receiver = new TestRings(right, server, 16);
                TestRings sender = new TestRings(left, client, 16)) {
            Awaitility.await().until(() -> isAsleep(receiver));
            for (int i = 0; i < 200; i++) {
                // The sidecar sleeps and is not woken: only the want of a receive has it look.
                receiver.entry()
                        .opcode(WorkEntryFlyweight.OPCODE_RECEIVE)
                        .id(i)
                        .connection(accepted)
                        .element(0, inbox.getId(), 0, 64)
                        .elements(1)
                        .blocks(1);
                receiver.publish(true);
                sender.post(send(i, connection, source, 8).build());
                assertThat(sender.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                WorkCompletion received = receiver.next();
                assertThat(received.getStatus())
                        .as(received.getMessage())
                        .isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                assertThat(received.getId()).isEqualTo(i);
            }
        }
    }

    private static boolean isAsleep(TestRings rings) {
        return rings.receives().file().get(java.lang.foreign.ValueLayout.JAVA_INT, RingLayout.CONSUMER_WAITS_OFFSET)
                != 0;
    }

    @Test
    void unsignaledWorkHasNoCompletion() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            for (int i = 0; i < 100; i++) {
                rings.post(write(i, connection, source, target, 8)
                        .setUnsignaled(true)
                        .build());
            }
            rings.post(write(100, connection, source, target, 8).build());

            assertThat(rings.next().getId()).isEqualTo(100);
            assertThat(rings.isEmpty()).isTrue();
        }
    }

    @Test
    void refusedEntriesTellWhyAndTheRestGoesOn() {
        try (TestRings rings = new TestRings(left, client, 64)) {
            rings.entry().opcode(77).id(1).connection(connection).blocks(1);
            rings.publish(false);
            rings.entry()
                    .opcode(WorkEntryFlyweight.OPCODE_RECEIVE)
                    .id(2)
                    .connection(accepted)
                    .blocks(1);
            rings.publish(false);
            rings.entry()
                    .opcode(WorkEntryFlyweight.OPCODE_FLUSH)
                    .id(3)
                    .connection(connection)
                    .flags(1 << 20)
                    .blocks(1);
            rings.publish(false);
            rings.entry()
                    .opcode(WorkEntryFlyweight.OPCODE_FLUSH)
                    .id(4)
                    .connection(4711)
                    .blocks(1);
            rings.publish(false);
            rings.post(write(5, connection, source, target, 8).build());

            List<WorkCompletion> completions = rings.next(5);

            assertThat(completions).extracting(WorkCompletion::getId).containsExactly(1L, 2L, 3L, 4L, 5L);
            assertThat(completions.subList(0, 4))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
            assertThat(completions.get(0).getMessage()).contains("opcode 77");
            assertThat(completions.get(1).getMessage()).contains("receive ring");
            assertThat(completions.get(2).getMessage()).contains("0x100000");
            assertThat(completions.get(3).getMessage()).contains("4711");
            assertThat(completions.get(4).getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    @Test
    void anEntryWithoutALengthEndsTheRings() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            rings.entry()
                    .opcode(WorkEntryFlyweight.OPCODE_FLUSH)
                    .connection(connection)
                    .blocks(200);
            rings.sends().publish(rings.entry().blocks(200).segment(), 1);
            rings.wakeSidecar();

            assertThat(records(rings)).contains(RingRecord.END);
            assertThat(RingLayout.isEnded(rings.completions().file())).isTrue();
            assertNoRingFiles();
        }
        assertThat(client.listConnections()).hasSize(1);
    }

    @Test
    void aFileThatIsCutShortEndsItsRingsOnly() throws IOException {
        try (TestRings rings = new TestRings(left, client, 16);
                TestRings others = new TestRings(left, client, 16)) {
            rings.post(write(1, connection, source, target, 8).build());
            rings.next();
            Awaitility.await().until(() -> records(rings, RingRecord.WAKE) >= 0);
            try (RandomAccessFile file = new RandomAccessFile(
                    left.sharedVolume()
                            .resolve(rings.sendRing().getFile().getPath())
                            .toFile(),
                    "rw")) {
                file.setLength(0);
            }
            rings.socket().write(RingRecord.of(RingRecord.WAKE, rings.sendRing().getId()));

            assertThat(records(rings)).contains(RingRecord.END);
            others.post(write(2, connection, source, target, 8).build());
            assertThat(others.next().getId()).isEqualTo(2);
        }
    }

    @Test
    void workIsCarriedOutWhenTheSocketCloses() {
        byte[] data = "last words".getBytes(StandardCharsets.UTF_8);
        client.store(source.getId(), 0, data, SIZE);
        TestRings rings = new TestRings(left, client, 16);
        rings.post(write(1, connection, source, target, data.length).build());
        rings.close();

        assertNoRingFiles();
        Awaitility.await()
                .untilAsserted(() ->
                        assertThat(server.load(target.getId(), 0, data.length)).isEqualTo(data));
    }

    @Test
    void theEndOfTheSessionRemovesTheFiles() {
        TestRings rings = new TestRings(left, client, 16);
        client.close();

        assertThat(records(rings)).contains(RingRecord.END).endsWith(-1);
        assertNoRingFiles();
        rings.close();
    }

    @Test
    void destroyedRingsEnd() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            destroy(rings.receiveRing().getId());
            assertThat(RingLayout.isEnded(rings.receives().file())).isTrue();
            rings.post(write(1, connection, source, target, 8).build());
            assertThat(rings.next().getId()).isEqualTo(1);

            destroy(rings.completionRing().getId());

            assertThat(records(rings)).contains(RingRecord.END);
            assertThatThrownBy(() -> destroy(rings.completionRing().getId())).hasMessageContaining("NOT_FOUND");
            assertNoRingFiles();
        }
    }

    private void destroy(long ring) {
        RingServiceGrpc.newBlockingStub(client.channel())
                .destroyRing(DestroyRingRequest.newBuilder()
                        .setSession(client.token())
                        .setRing(ring)
                        .build());
    }

    @Test
    void aRingThatIsTooLongIsRefused() {
        assertThatThrownBy(() -> RingServiceGrpc.newBlockingStub(client.channel())
                        .createCompletionRing(CreateCompletionRingRequest.newBuilder()
                                .setSession(client.token())
                                .setEntries(1 << 20)
                                .build()))
                .satisfies(failure ->
                        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
                .hasMessageContaining("8192");
    }

    @Test
    void aDisconnectComesBehindTheEntriesOfTheRing() {
        byte[] data = new byte[SIZE];
        data[SIZE - 1] = 7;
        client.store(source.getId(), 0, data, SIZE);
        try (TestRings rings = new TestRings(left, client, 64)) {
            for (int i = 0; i < 20; i++) {
                rings.post(write(i, connection, source, target, SIZE).build());
            }
            client.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(connection)
                            .setAfterPosts(20)
                            .build());

            assertThat(rings.next(20))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(server.load(target.getId(), SIZE - 1, 1)).containsExactly(7);
        }
    }

    @Test
    void disconnectFailsWhileEntriesWaitForRoomInTheCompletionRing() {
        Region own = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        try (TestRings rings = new TestRings(left, client, 16)) {
            for (int i = 0; i < 16; i++) {
                rings.post(receive(i, connection, own, 0, 64).build());
            }

            assertThatThrownBy(() -> client.connections()
                            .disconnect(DisconnectRequest.newBuilder()
                                    .setSession(client.token())
                                    .setConnection(connection)
                                    .setAfterPosts(16)
                                    .build()))
                    .satisfies(
                            failure -> assertThat(Status.fromThrowable(failure).getCode())
                                    .isEqualTo(Status.Code.FAILED_PRECONDITION))
                    .hasMessageContaining("but only 15 work requests")
                    .hasMessageContaining("whose completion ring is full");
            rings.post(write(17, connection, source, target, 8).build());
            assertThat(rings.next().getId()).isEqualTo(17);
        }
    }

    @Test
    void ringFileCannotBeRegistered() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            String path = rings.sendRing().getFile().getPath();

            assertThatThrownBy(() -> client.shared(path, 64, Access.ACCESS_LOCAL_WRITE))
                    .hasMessageContaining("is the name of a ring; use another name");
        }
    }

    @Test
    void workRingNeedsACompletionRing() {
        try (TestRings rings = new TestRings(left, client, 16)) {
            assertThatThrownBy(() -> RingServiceGrpc.newBlockingStub(client.channel())
                            .createWorkRing(CreateWorkRingRequest.newBuilder()
                                    .setSession(client.token())
                                    .setKind(WorkRingKind.WORK_RING_KIND_SEND)
                                    .setCompletionRing(rings.sendRing().getId())
                                    .build()))
                    .hasMessageContaining("INVALID_ARGUMENT")
                    .hasMessageContaining("this id is a work ring's");
        }
    }

    @Test
    void recordOfAnotherVersionEndsTheSocket() throws IOException {
        try (TestRings rings = new TestRings(left, client, 16)) {
            ByteBuffer record = RingRecord.of(RingRecord.WAKE, rings.sendRing().getId());
            record.putShort(RingRecord.VERSION_OFFSET, (short) 2);
            rings.socket().write(record);

            assertThat(records(rings)).contains(RingRecord.ERROR).endsWith(-1);
        }
    }

    @Test
    void aConsumerThatSleepsIsWoken() {
        try (TestRings receiver = new TestRings(right, server, 16);
                TestRings sender = new TestRings(left, client, 16)) {
            for (int i = 0; i < 50; i++) {
                receiver.post(receive(i, accepted, inbox, 0, 64).build());
                assertThat(receiver.completions().arm(RingLayout.WAITS_FOR_ANY)).isFalse();
                sender.post(send(i, connection, source, 8).build());
                assertThat(receiver.nextRecord()).isEqualTo(RingRecord.WAKE);
                assertThat(receiver.next().getId()).isEqualTo(i);
                sender.next();
            }
        }
    }

    @Test
    void aConsumerThatWaitsForSolicitedCompletionsSleepsOn() {
        try (TestRings receiver = new TestRings(right, server, 16);
                TestRings sender = new TestRings(left, client, 16)) {
            receiver.post(
                    receive(1, accepted, inbox, 0, 64).build(),
                    receive(2, accepted, inbox, 0, 64).build());
            receiver.completions().arm(RingLayout.WAITS_FOR_SOLICITED);
            sender.post(send(1, connection, source, 8).build());
            Awaitility.await().until(() -> !receiver.isEmpty());
            assertThat(receiver.completions()
                            .file()
                            .get(java.lang.foreign.ValueLayout.JAVA_INT, RingLayout.CONSUMER_WAITS_OFFSET))
                    .isEqualTo(RingLayout.WAITS_FOR_SOLICITED);

            WorkRequest.Builder solicited = send(2, connection, source, 8);
            solicited.getSendBuilder().setSolicited(true);
            sender.post(solicited.build());

            assertThat(receiver.nextRecord()).isEqualTo(RingRecord.WAKE);
            assertThat(receiver.next(2))
                    .extracting(WorkCompletion::getSolicited)
                    .containsExactly(false, true);
        }
    }

    private List<Integer> records(TestRings rings) {
        List<Integer> types = new java.util.ArrayList<>();
        do {
            types.add(rings.nextRecord());
        } while (types.getLast() != -1);
        return types;
    }

    /** Returns at once; the sidecar may have written WAKE records. */
    private static int records(TestRings rings, int type) {
        return rings.isEmpty() ? type : -1;
    }

    private void assertNoRingFiles() {
        Awaitility.await().untilAsserted(() -> {
            File[] files = left.sharedVolume().toFile().listFiles((directory, name) -> name.contains("ring"));
            assertThat(files).isEmpty();
        });
    }
}
