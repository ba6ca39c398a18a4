// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.DisconnectRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that each limit for peers comes from its setting, and that its counter counts. */
class HostilePeersTest {

    private static final int FRAME_LENGTH = 20;
    private static final int UNKNOWN_ERRORS = 10;

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start(
                "sidewarp.connection.timeout", "300ms",
                "sidewarp.connection.stall-timeout", "300ms",
                "sidewarp.advanced.connection.linger-timeout", "300ms",
                "sidewarp.limits.startup-connections", "1",
                "sidewarp.limits.short-segments", "2");
        session = sidecar.session();
    }

    @AfterEach
    void stop() {
        session.close();
        sidecar.close();
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /** A connection in full operation, and this side's end of it. */
    private Connection establish(Socket peer, TestSession.Listening listening) throws IOException {
        byte[] frame = ByteBuffer.allocate(FRAME_LENGTH)
                .put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII))
                .put(new byte[] {0x40, 1, 0, 0})
                .array();
        peer.getOutputStream().write(frame);
        Connection connection = session.connections()
                .accept(AcceptRequest.newBuilder()
                        .setSession(session.token())
                        .setRequest(listening.next().getId())
                        .build())
                .getConnection();
        assertThat(peer.getInputStream().readNBytes(FRAME_LENGTH)).hasSize(FRAME_LENGTH);
        return connection;
    }

    /** A series with these labels and any others has counted one. */
    private void assertCounted(String metric, String... labels) {
        Awaitility.await()
                .untilAsserted(() -> assertThat(sidecar.get("/q/metrics").lines())
                        .filteredOn(line -> line.startsWith(metric + "{")
                                && List.of(labels).stream().allMatch(line::contains))
                        .singleElement()
                        .asString()
                        .endsWith("} 1.0"));
    }

    @Test
    void connectionsThatSendNothing() throws IOException {
        try (TestSession.Listening listening = session.listen()) {
            int port = listening.port();
            try (Socket silent = connect(port);
                    Socket excess = connect(port)) {
                assertThat(silent.isConnected() && excess.isConnected()).isTrue();
                assertCounted("sidewarp_startup_failures_total", "reason=\"limit\"");
                assertCounted("sidewarp_startup_failures_total", "reason=\"startup\"");
            }
        }
    }

    @Test
    void anFpduThatIsNeverCompleted() throws IOException {
        try (TestSession.Listening listening = session.listen();
                Socket peer = connect(listening.port())) {
            establish(peer, listening);
            peer.getOutputStream().write(new byte[] {1, 0, 0});

            assertCounted("sidewarp_peer_limits_total", "limit=\"incomplete_fpdu\"");
        }
    }

    @Test
    void aPeerThatDoesNotCloseItsSide() throws IOException {
        try (TestSession.Listening listening = session.listen();
                Socket peer = connect(listening.port())) {
            Connection connection = establish(peer, listening);
            session.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(session.token())
                            .setConnection(connection.getId())
                            .build());

            assertCounted("sidewarp_peer_limits_total", "limit=\"linger\"");
        }
    }

    @Test
    void aMessageInCrumbs() throws IOException {
        try (TestSession.Listening listening = session.listen();
                Socket peer = connect(listening.port())) {
            establish(peer, listening);
            for (int i = 0; i < 3; i++) {
                peer.getOutputStream().write(emptySegment());
            }

            assertCounted(
                    "sidewarp_terminates_total", "layer=\"rdmap\"", "type=\"2\"", "code=\"7\"", "direction=\"out\"");
        }
    }

    @Test
    void errorsThatNoRfcNamesAreOneSeries() throws IOException {
        try (TestSession.Listening listening = session.listen()) {
            int port = listening.port();
            for (int error = 0; error < UNKNOWN_ERRORS; error++) {
                try (Socket peer = connect(port)) {
                    establish(peer, listening);
                    // A type that RDMAP does not have, and a layer that nobody has.
                    peer.getOutputStream().write(terminate(error % 2 == 0 ? 0x0F : 0x30, error));
                    assertThat(peer.getInputStream().read()).isEqualTo(-1);
                }
            }

            Awaitility.await()
                    .untilAsserted(() -> assertThat(sidecar.get("/q/metrics").lines())
                            .filteredOn(line -> line.startsWith("sidewarp_terminates_total{"))
                            .singleElement()
                            .asString()
                            .contains("layer=\"other\"", "type=\"0\"", "code=\"0\"", "direction=\"in\"")
                            .endsWith("} " + UNKNOWN_ERRORS + ".0"));
        }
    }

    @Test
    void errorsOfMpaThatRnicsReportAreThoseOfTheRfcs() throws IOException {
        try (TestSession.Listening listening = session.listen()) {
            int port = listening.port();
            for (int layerAndType : new int[] {0x20, 0x23}) {
                try (Socket peer = connect(port)) {
                    establish(peer, listening);
                    peer.getOutputStream().write(terminate(layerAndType, 2));
                    assertThat(peer.getInputStream().read()).isEqualTo(-1);
                }
            }

            Awaitility.await()
                    .untilAsserted(() -> assertThat(sidecar.get("/q/metrics").lines())
                            .filteredOn(line -> line.startsWith("sidewarp_terminates_total{"))
                            .singleElement()
                            .asString()
                            .contains("layer=\"llp\"", "type=\"0\"", "code=\"2\"", "direction=\"in\"")
                            .endsWith("} 2.0"));
        }
    }

    /** An RDMA Write without payload, which others shall follow: 14 octets of header. */
    private static byte[] emptySegment() {
        return fpdu(ByteBuffer.allocate(14).put((byte) 0x81).put((byte) 0x40).array());
    }

    /**
     * A Terminate without headers of what it refuses: 18 octets of header, and 4 of Terminate Control.
     *
     * @param layerAndType of 4 bits each
     */
    private static byte[] terminate(int layerAndType, int code) {
        return fpdu(ByteBuffer.allocate(22)
                .put((byte) 0x41)
                .put((byte) 0x47)
                .putInt(6, 2)
                .putInt(10, 1)
                .put(18, (byte) layerAndType)
                .put(19, (byte) code)
                .array());
    }

    /** With its length, and a CRC; no octets of padding, as all of them have 4n + 2. */
    private static byte[] fpdu(byte[] ulpdu) {
        int length = ulpdu.length;
        ByteBuffer fpdu =
                ByteBuffer.allocate(length + 6).putShort((short) length).put(ulpdu);
        CRC32C crc = new CRC32C();
        crc.update(fpdu.array(), 0, length + 2);
        return fpdu.putInt(length + 2, Integer.reverseBytes((int) crc.getValue()))
                .array();
    }
}
