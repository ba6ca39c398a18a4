// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectedFields;
import io.sidewarp.ring.ControlRecord.ConnectionRequestFields;
import io.sidewarp.ring.ControlRecord.DeviceFields;
import io.sidewarp.ring.ControlRecord.DisconnectFields;
import io.sidewarp.ring.ControlRecord.EventFields;
import io.sidewarp.ring.ControlRecord.FailedFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.ConnectionState;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the requests and events of the control socket, as docs/control.md describes them. */
@Timeout(60)
class ControlSocketTest {

    private static final int READ_AND_WRITE = 6;

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
    }

    @Test
    void openTellsTheLimitsAndTheVolume() {
        try (TestControl other = TestControl.connect(sidecar)) {
            ByteBuffer device = other.done(ControlRecord.OPEN, ControlRecord.OpenFields.LENGTH, record -> {});

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
}
