// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectedFields;
import io.sidewarp.ring.ControlRecord.ConnectionRequestFields;
import io.sidewarp.ring.ControlRecord.CreateConnectionFields;
import io.sidewarp.ring.ControlRecord.DeviceFields;
import io.sidewarp.ring.ControlRecord.DisconnectFields;
import io.sidewarp.ring.ControlRecord.EventFields;
import io.sidewarp.ring.ControlRecord.FailedFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.OpenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.ControlRecord.SharedReceiveFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.Retry;
import io.sidewarp.v1.SessionInfo;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the requests and events of the control socket, as docs/control.md describes them. */
@Timeout(60)
class ControlSocketTest {

    private static final int READ_AND_WRITE = 6;

    private final LogLines log = LogLines.of("io.sidewarp.service.session.SidecarSession");
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
        log.close();
        // Objects that are left would be reported here.
        assertThat(log.all()).isEmpty();
    }

    @Test
    void openTellsTheLimitsAndTheVolume() {
        try (TestControl other = TestControl.connect(sidecar)) {
            ByteBuffer device = other.done(ControlRecord.OPEN, OpenFields.LENGTH, record -> {});

            var limits = sidecar.sidecar().sessions().limits().toProto();
            assertThat(device.limit()).isEqualTo(DeviceFields.LENGTH);
            assertThat(device.getLong(DeviceFields.DOMAIN_OFFSET)).isNotZero();
            assertThat(device.getLong(DeviceFields.MAX_REGISTERED_OFFSET)).isEqualTo(limits.getMaxRegisteredOctets());
            assertThat(device.getInt(DeviceFields.MAX_SHARED_RECEIVE_QUEUES_OFFSET))
                    .isEqualTo(limits.getMaxSharedReceiveQueues());
            assertThat(device.getInt(DeviceFields.CAPABILITIES_OFFSET)).isEqualTo(7);
            assertThat(TestControl.string(device, DeviceFields.VERSION_OFFSET, DeviceFields.VERSION_LENGTH))
                    .isEqualTo("test");
            assertThat(TestControl.string(device, DeviceFields.VOLUME_OFFSET, DeviceFields.VOLUME_LENGTH))
                    .isEqualTo(sidecar.sharedVolume().toString());
        }
    }

    @Test
    void registersAFileOfTheVolume() throws IOException {
        Files.write(sidecar.sharedVolume().resolve("data"), new byte[8192]);

        ByteBuffer region = control.register(RegionFields.BACKING_FILE, "data", 4096, 4096, READ_AND_WRITE);

        assertThat(TestControl.type(region)).isEqualTo(ControlRecord.DONE);
        assertThat(region.getInt(RegionFields.STAG_OFFSET)).isNotZero();
        control.done(ControlRecord.DEREGISTER, TestControl.object(region));
    }

    @Test
    void createsRings() {
        ByteBuffer ring = control.completionRing(64);
        ByteBuffer work = control.done(
                ControlRecord.CREATE_WORK_RING,
                RingFields.WORK_LENGTH,
                record -> record.putLong(RingFields.COMPLETION_RING_OFFSET, TestControl.object(ring))
                        .putInt(RingFields.KIND_OFFSET, 1)
                        .putInt(RingFields.BLOCKS_OFFSET, 64));

        assertThat(ring.limit()).isEqualTo(RingFields.ANSWER_LENGTH);
        assertThat(ring.getInt(RingFields.SIZE_OFFSET)).isEqualTo(64);
        assertThat(file(ring)).exists();
        assertThat(file(work)).exists();
        control.done(ControlRecord.DESTROY_RING, TestControl.object(work));
        assertThat(file(work)).doesNotExist();
    }

    private Path file(ByteBuffer ring) {
        return sidecar.sharedVolume().resolve(TestControl.string(ring, RingFields.FILE_OFFSET, RingFields.FILE_LENGTH));
    }

    @Test
    void connectsAcceptsAndDisconnects() {
        ByteBuffer listener = control.listen();
        int port = listener.getInt(ListenFields.BOUND_PORT_OFFSET);
        long client = control.createConnection();
        long server = control.createConnection();

        long connect = control.connect(client, port, "hello");
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);
        long accept = control.accept(server, request.getLong(ConnectionRequestFields.REQUEST_OFFSET), "welcome");

        assertThat(TestControl.value(request)).isEqualTo(TestControl.object(listener));
        assertThat(TestControl.privateData(request)).isEqualTo("hello");
        assertThat(request.getInt(ConnectionRequestFields.LOCAL_PORT_OFFSET)).isEqualTo(port);
        assertThat(TestControl.address(request, request.limit() - ControlRecord.ADDRESS_LENGTH))
                .isEqualTo(InetAddress.ofLiteral("127.0.0.1"));
        ByteBuffer accepted = control.done(accept);
        ByteBuffer connected = control.done(connect);
        assertThat(TestControl.privateData(connected)).isEqualTo("welcome");
        assertThat(accepted.getInt(ConnectedFields.LOCAL_PORT_OFFSET)).isEqualTo(port);
        assertThat(request.getInt(ConnectionRequestFields.REMOTE_PORT_OFFSET))
                .isEqualTo(connected.getInt(ConnectedFields.LOCAL_PORT_OFFSET));
        assertThat(control.next(ControlRecord.CONNECTION_CHANGED).getInt(EventFields.STATE_OFFSET))
                .isEqualTo(ConnectionState.CONNECTION_STATE_CONNECTING_VALUE);

        control.done(
                ControlRecord.DISCONNECT,
                DisconnectFields.LENGTH,
                record -> record.putLong(DisconnectFields.CONNECTION_OFFSET, client));
        while (true) {
            ByteBuffer change = control.next(ControlRecord.CONNECTION_CHANGED);
            if (TestControl.value(change) == server
                    && change.getInt(EventFields.STATE_OFFSET) == ConnectionState.CONNECTION_STATE_CLOSED_VALUE) {
                break;
            }
        }
        control.done(ControlRecord.CLOSE_LISTENER, TestControl.object(listener));
    }

    @Test
    void connectAsksForReadDepthsAndPeerToPeer() {
        int port = control.listen().getInt(ListenFields.BOUND_PORT_OFFSET);

        control.connect(control.createConnection(), port, "");
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);

        assertThat(request.getInt(ConnectionRequestFields.PEER_IRD_OFFSET)).isNotEqualTo(ControlRecord.DEPTH_UNSET);
        assertThat(request.getInt(ConnectionRequestFields.PEER_ORD_OFFSET)).isNotEqualTo(ControlRecord.DEPTH_UNSET);
    }

    @Test
    void lateByteBehindMemoryIsTaken() {
        long memory = control.send(ControlRecord.MEMORY, RingRecord.HEADER, record -> {});
        control.done(memory);
        // The sidecar has looked for the byte several times by then.
        Awaitility.await().pollDelay(Duration.ofMillis(50)).until(() -> true);
        control.send(ByteBuffer.allocate(1));

        assertThat(TestControl.text(control.answer(memory))).contains("without a descriptor");
    }

    @Test
    void rejectionBringsThePrivateDataOfThePeer() {
        int port = control.listen().getInt(ListenFields.BOUND_PORT_OFFSET);

        long connect = control.connect(control.createConnection(), port, "");
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);
        control.done(control.reject(request.getLong(ConnectionRequestFields.REQUEST_OFFSET), "no"));
        ByteBuffer failed = control.answer(connect);

        assertThat(failed.getInt(FailedFields.REASON_OFFSET)).isEqualTo(FailedFields.REASON_REJECTED);
        assertThat(failed.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.ABORTED.value());
        assertThat(TestControl.privateData(failed)).isEqualTo("no");
        assertThat(TestControl.text(failed)).contains("the peer rejected the connection");
    }

    /** Tests the reason of a set-up that a TCP server without iWARP ends in its way. */
    @ParameterizedTest
    @CsvSource({"closes, 5", "is silent, 4", "answers nonsense, 6", "is gone, 2"})
    void failedSetupNamesItsReason(String server, int reason) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            switch (server) {
                case "closes" -> Thread.startVirtualThread(() -> answer(listener, new byte[0], true));
                case "answers nonsense" -> Thread.startVirtualThread(() -> answer(listener, new byte[100], false));
                case "is gone" -> listener.close();
                default -> {}
            }

            ByteBuffer failed = connect(TestControl.loopback(), listener.getLocalPort(), 500);

            assertThat(failed.getInt(FailedFields.REASON_OFFSET))
                    .as(TestControl.text(failed))
                    .isEqualTo(reason);
        }
    }

    @Test
    void addressWithoutHostIsUnreachable() {
        byte[] everybody = TestControl.loopback();
        Arrays.fill(everybody, 12, 16, (byte) -1);

        assertThat(connect(everybody, 1, 0).getInt(FailedFields.REASON_OFFSET))
                .isEqualTo(FailedFields.REASON_UNREACHABLE);
    }

    /** Returns the answer to CONNECT, which fails. */
    private ByteBuffer connect(byte[] address, int port, int timeoutMillis) {
        long connection = control.createConnection();
        ByteBuffer failed = control.answer(control.setup(
                ControlRecord.CONNECT,
                "",
                record -> record.putLong(SetupFields.CONNECTION_OFFSET, connection)
                        .put(SetupFields.ADDRESS_OFFSET, address)
                        .putInt(SetupFields.PORT_OFFSET, port)
                        .putInt(SetupFields.TIMEOUT_OFFSET, timeoutMillis)));
        assertThat(TestControl.type(failed)).isEqualTo(ControlRecord.FAILED);
        return failed;
    }

    /** Answers each connection with bytes once it has sent something. */
    private static void answer(ServerSocket listener, byte[] answer, boolean closes) {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                socket.getInputStream().skipNBytes(1);
                socket.getOutputStream().write(answer);
                if (!closes) {
                    socket.getInputStream().transferTo(OutputStream.nullOutputStream());
                }
            } catch (IOException e) {
                // The sidecar reset the connection, or the listener is closed.
            }
        }
    }

    @Test
    void endOfTheSocketReleasesEverything() throws IOException {
        Files.write(sidecar.sharedVolume().resolve("data"), new byte[4096]);
        control.register(RegionFields.BACKING_FILE, "data", 0, 4096, READ_AND_WRITE);
        control.done(ControlRecord.ALLOCATE_DOMAIN);
        sharedReceiveQueue();
        ByteBuffer ring = control.completionRing(64);
        int port = control.listen().getInt(ListenFields.BOUND_PORT_OFFSET);
        long connect = control.connect(control.createConnection(), port, "");
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);
        control.done(control.accept(
                control.createConnection(), request.getLong(ConnectionRequestFields.REQUEST_OFFSET), ""));
        control.done(connect);
        control.connect(control.createConnection(), port, "");

        control.close();

        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
        Awaitility.await().until(() -> !Files.exists(file(ring)));
    }

    @Test
    void sessionIsListedWithItsName() {
        try (var session = sidecar.session("other")) {
            assertThat(session.device()
                            .listSessions(ListSessionsRequest.getDefaultInstance())
                            .getSessionsList())
                    .extracting(SessionInfo::getName)
                    .containsExactlyInAnyOrder("other", "test");
        }
    }

    @Test
    void sharedReceiveQueueIsModifiedAndDestroyed() {
        long queue = TestControl.object(sharedReceiveQueue());

        control.done(
                ControlRecord.MODIFY_SHARED_RECEIVE_QUEUE,
                SharedReceiveFields.LENGTH,
                record -> record.putLong(SharedReceiveFields.QUEUE_OFFSET, queue)
                        .putInt(SharedReceiveFields.MODIFIED_LIMIT_OFFSET, 0));
        long connection = TestControl.object(control.done(
                ControlRecord.CREATE_CONNECTION,
                CreateConnectionFields.LENGTH,
                record -> record.putLong(CreateConnectionFields.SHARED_RECEIVE_QUEUE_OFFSET, queue)));
        ByteBuffer inUse = control.call(
                ControlRecord.DESTROY_SHARED_RECEIVE_QUEUE,
                ObjectFields.LENGTH,
                record -> record.putLong(ObjectFields.OBJECT_OFFSET, queue));
        control.done(
                ControlRecord.DISCONNECT,
                DisconnectFields.LENGTH,
                record -> record.putLong(DisconnectFields.CONNECTION_OFFSET, connection)
                        .putInt(DisconnectFields.ABORT_OFFSET, 1));

        assertThat(inUse.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
        control.done(ControlRecord.DESTROY_SHARED_RECEIVE_QUEUE, queue);
    }

    private ByteBuffer sharedReceiveQueue() {
        ByteBuffer queue = control.done(
                ControlRecord.CREATE_SHARED_RECEIVE_QUEUE,
                SharedReceiveFields.LENGTH,
                record -> record.putInt(SharedReceiveFields.CAPACITY_OFFSET, 16));
        assertThat(queue.getInt(SharedReceiveFields.CAPACITY_OFFSET)).isEqualTo(16);
        return queue;
    }

    @Test
    void depthsOfConnectReplaceTheDefaults() {
        int port = control.listen().getInt(ListenFields.BOUND_PORT_OFFSET);
        long client = control.createConnection();
        long connect = control.setup(
                ControlRecord.CONNECT,
                "",
                record -> record.putLong(SetupFields.CONNECTION_OFFSET, client)
                        .put(SetupFields.ADDRESS_OFFSET, TestControl.loopback())
                        .putInt(SetupFields.PORT_OFFSET, port)
                        .putInt(SetupFields.TIMEOUT_OFFSET, 5000)
                        .putInt(SetupFields.IRD_OFFSET, 3)
                        .putInt(SetupFields.ORD_OFFSET, 2));
        ByteBuffer request = control.next(ControlRecord.CONNECTION_REQUEST);
        control.done(control.accept(
                control.createConnection(), request.getLong(ConnectionRequestFields.REQUEST_OFFSET), ""));

        ByteBuffer connected = control.done(connect);

        assertThat(connected.getInt(ConnectedFields.IRD_OFFSET)).isEqualTo(3);
        assertThat(connected.getInt(ConnectedFields.ORD_OFFSET)).isEqualTo(2);
    }

    @Test
    void requestOnAnUnknownObjectFailsAndTheSessionGoesOn() {
        ByteBuffer failed = control.call(
                ControlRecord.DEREGISTER,
                ObjectFields.LENGTH,
                record -> record.putLong(ObjectFields.OBJECT_OFFSET, 99));

        assertThat(failed.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.NOT_FOUND.value());
        assertThat(failed.getInt(FailedFields.RETRY_OFFSET)).isEqualTo(Retry.RETRY_NEVER_VALUE);
        assertThat(TestControl.text(failed))
                .isEqualTo("region 99 is not known in this session; register it first, in" + " this session");
        control.done(ControlRecord.ALLOCATE_DOMAIN);
    }

    @Test
    void drainEndsListenersAndRefusesSessions() {
        ByteBuffer listener = control.listen();

        sidecar.sidecar().sessions().drain(Duration.ofSeconds(3));

        assertThat(TestControl.value(control.next(ControlRecord.DRAINING))).isEqualTo(3000);
        ByteBuffer ended = control.next(ControlRecord.LISTENER_ENDED);
        assertThat(TestControl.value(ended)).isEqualTo(TestControl.object(listener));
        assertThat(ended.getInt(EventFields.CODE_OFFSET)).isEqualTo(Status.Code.UNAVAILABLE.value());
        ByteBuffer create = control.call(ControlRecord.CREATE_CONNECTION, CreateConnectionFields.LENGTH, record -> {});
        assertThat(create.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.UNAVAILABLE.value());
        try (TestControl late = TestControl.connect(sidecar)) {
            late.send(ControlRecord.OPEN, OpenFields.LENGTH, record -> {});
            ByteBuffer refused = late.last();
            assertThat(TestControl.type(refused)).isEqualTo(ControlRecord.FAILED);
            assertThat(refused.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.UNAVAILABLE.value());
        }
        sidecar.sidecar().sessions().endAll().join();
        ByteBuffer end = control.last();
        assertThat(TestControl.type(end)).isEqualTo(RingRecord.END);
        assertThat(TestControl.value(end)).isEqualTo(Status.Code.UNAVAILABLE.value());
        assertThat(TestControl.text(end)).contains("the sidecar is stopping");
    }

    @Test
    void quotasOfSessionsHoldForControlSockets() {
        try (TestSidecar small = TestSidecar.start("sidewarp.limits.regions", "1", "sidewarp.limits.sessions", "4");
                TestControl first = TestControl.open(small);
                TestControl second = TestControl.open(small);
                TestControl third = TestControl.connect(small)) {
            third.send(ControlRecord.OPEN, OpenFields.LENGTH, record -> {});
            ByteBuffer refused = third.last();

            assertThat(refused.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.RESOURCE_EXHAUSTED.value());
            assertThat(TestControl.text(refused)).contains("sidewarp.limits.sessions");
            first.close();
            second.close();
            Awaitility.await().until(() -> small.sidecar().sessions().count() == 0);
        }
    }

    @Test
    void userThatMayNotUseTheSidecarOpensNoSession() {
        try (TestSidecar closed = TestSidecar.start("sidewarp.api.allowed-uids", "4000000000");
                TestControl stranger = TestControl.connect(closed)) {
            stranger.send(ControlRecord.OPEN, OpenFields.LENGTH, record -> {});

            ByteBuffer refused = stranger.last();

            assertThat(refused.getInt(FailedFields.CODE_OFFSET)).isEqualTo(Status.Code.PERMISSION_DENIED.value());
        }
    }
}
