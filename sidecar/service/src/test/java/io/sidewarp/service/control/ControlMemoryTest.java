// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectionRequestFields;
import io.sidewarp.ring.ControlRecord.FailedFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.Region;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests memory of the client's process on the control socket. The client is this process. */
@Timeout(60)
class ControlMemoryTest {

    private static final String MEMORY = "/proc/self/mem";
    private static final int LENGTH = 10_000;

    private TestSidecar sidecar;
    private TestControl control;

    @BeforeEach
    void open() {
        sidecar = TestSidecar.start();
        control = TestControl.open(sidecar);
    }

    @AfterEach
    void close() {
        control.close();
        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
        sidecar.close();
        // The sidecar must not keep a descriptor that it refused, or that a session had.
        Awaitility.await().untilAsserted(() -> assertThat(descriptorsOf("/mem")).isZero());
    }

    /** Returns the number of descriptors of this process whose file has a name with this end. */
    private static long descriptorsOf(String end) throws IOException {
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(link -> {
                        try {
                            return Files.readSymbolicLink(link).toString().endsWith(end);
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .count();
        }
    }

    @Test
    void peerWritesIntoMemoryOfTheProcess() {
        try (Arena arena = Arena.ofShared();
                TestSession peer = sidecar.session("peer")) {
            MemorySegment memory = arena.allocate(LENGTH);
            assertThat(TestControl.type(control.passMemory(MEMORY))).isEqualTo(ControlRecord.DONE);
            ByteBuffer region = control.register(RegionFields.BACKING_PROCESS, "", memory.address(), LENGTH, 4);
            assertThat(TestControl.type(region)).isEqualTo(ControlRecord.DONE);
            byte[] data = new byte[LENGTH];
            for (int i = 0; i < LENGTH; i++) {
                data[i] = (byte) (i * 7);
            }
            Region source = peer.managed(LENGTH);
            peer.store(source.getId(), 0, data, LENGTH);
            long connection = connect(peer);

            peer.transfer()
                    .perform(PerformRequest.newBuilder()
                            .setSession(peer.token())
                            .setWork(Works.write(1, connection, source, remote(region), LENGTH))
                            .build());

            Awaitility.await()
                    .untilAsserted(() ->
                            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data));
        }
    }

    private static Region remote(ByteBuffer region) {
        return Region.newBuilder()
                .setId(TestControl.object(region))
                .setStag(region.getInt(RegionFields.STAG_OFFSET))
                .build();
    }

    private long connect(TestSession peer) {
        int port = control.listen().getInt(ListenFields.BOUND_PORT_OFFSET);
        CompletableFuture<Connection> connecting =
                peer.connect(peer.connectRequest(port).build());
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);
        control.done(control.accept(
                control.createConnection(), request.getLong(ConnectionRequestFields.REQUEST_OFFSET), ""));
        return Waiting.join(connecting).getId();
    }

    @Test
    void byteWithoutDescriptorIsRefusedAndMemoryCanBePassedAgain() {
        assertRefused(control.passMemory(), "came without a descriptor");

        assertThat(TestControl.type(control.passMemory(MEMORY))).isEqualTo(ControlRecord.DONE);
    }

    @Test
    void byteWithSeveralDescriptorsIsRefused() throws IOException {
        long before = descriptorsOf("/null");

        assertRefused(control.passMemory("/dev/null", "/dev/null", "/dev/null"), "more than one descriptor");
        assertRefused(control.passMemory(MEMORY, MEMORY), "more than one descriptor");

        assertThat(descriptorsOf("/null")).isEqualTo(before);
        assertThat(descriptorsOf("/mem")).isZero();
    }

    @Test
    void descriptorOfAnotherFileIsRefusedAndClosed() throws IOException {
        Path file = Files.createFile(sidecar.sharedVolume().resolve("a-file"));

        assertRefused(control.passMemory(file.toString()), "a-file; pass one of /proc/self/mem");

        assertThat(descriptorsOf("a-file")).isZero();
    }

    @Test
    void secondMemoryIsRefused() {
        control.passMemory(MEMORY);

        ByteBuffer again = control.call(ControlRecord.MEMORY, RingRecord.HEADER, record -> {});

        assertThat(again.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
        assertThat(TestControl.text(again)).contains("has the memory of a process already");
    }

    @Test
    void bytesBehindMemoryAreAnError() {
        ByteBuffer both = ByteBuffer.allocate(2 * RingRecord.HEADER)
                .put(TestControl.record(ControlRecord.MEMORY, 1, RingRecord.HEADER))
                .put(TestControl.record(ControlRecord.ALLOCATE_DOMAIN, 2, RingRecord.HEADER))
                .flip();

        control.send(both);

        ByteBuffer error = control.last();
        assertThat(TestControl.type(error)).isEqualTo(RingRecord.ERROR);
        assertThat(TestControl.text(error))
                .isEqualTo("bytes came behind MEMORY; wait for its answer before the next byte" + " is sent");
    }

    @Test
    void memoryOfTheProcessNeedsADescriptor() {
        ByteBuffer failed = control.register(RegionFields.BACKING_PROCESS, "", 4096, 4096, 4);

        assertThat(failed.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
        assertThat(TestControl.text(failed)).contains("send MEMORY first");
    }

    @Test
    void addressBeyondTheAddressSpaceIsRefused() {
        control.passMemory(MEMORY);

        ByteBuffer beyond = control.register(RegionFields.BACKING_PROCESS, "", -4096, 4096, 4);

        assertThat(beyond.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
    }

    private static void assertRefused(ByteBuffer answer, String text) {
        assertThat(TestControl.type(answer)).isEqualTo(ControlRecord.FAILED);
        assertThat(answer.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
        assertThat(TestControl.text(answer)).contains(text);
    }
}
