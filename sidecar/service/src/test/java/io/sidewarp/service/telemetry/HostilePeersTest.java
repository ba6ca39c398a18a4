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

/** Each limit that a peer can run into is the setting's, and its counter tells. */
class HostilePeersTest {

    private static final int FRAME_LENGTH = 20;

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start(
                "sidewarp.connection.timeout", "300ms",
                "sidewarp.connection.stall-timeout", "300ms",
                "sidewarp.connection.linger-timeout", "300ms",
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

    /** An RDMA Write without payload, which others shall follow: 14 octets of header in an FPDU of 20. */
    private static byte[] emptySegment() {
        ByteBuffer fpdu =
                ByteBuffer.allocate(20).putShort((short) 14).put((byte) 0x81).put((byte) 0x40);
        CRC32C crc = new CRC32C();
        crc.update(fpdu.array(), 0, 16);
        return fpdu.putInt(16, Integer.reverseBytes((int) crc.getValue())).array();
    }
}
