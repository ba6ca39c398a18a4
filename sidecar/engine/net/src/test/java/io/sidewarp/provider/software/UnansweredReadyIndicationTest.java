// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.RtrKind;
import io.sidewarp.provider.Endpoint;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a graceful close after a ready-to-receive Read that the peer never answers. */
final class UnansweredReadyIndicationTest {

    private static final int REQUEST = 24;
    /** Flags of a Reply: CRC, and enhanced data. */
    private static final int FLAGS = 0x50;
    /** Enhanced data: the peer-to-peer model, and the depth 1 with a ready-to-receive Read. */
    private static final int PEER_TO_PEER = 0x80;

    private static final int READ = 0x40;

    private SoftwareProvider provider;
    private Device device;
    private Endpoint client;

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder()
                .settings(SoftwareSettings.defaults()
                        .withNet(NetSettings.defaults().withLingerTimeout(Duration.ofMillis(200))))
                .eventLoops(1)
                .build();
        device = provider.open();
        client = new Endpoint(device, 64);
    }

    @AfterEach
    void close() {
        device.close();
        provider.close();
    }

    @Test
    @Requirement("EMPA-9.2-03")
    void endsByTheLingerTimeout() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var connected = client.queuePair.connect(
                    (InetSocketAddress) listener.getLocalSocketAddress(),
                    ConnectionParameters.defaults()
                            .withMpa(policy -> policy.withRequestRevision(2)
                                    .withPeerToPeer(true)
                                    .withRtr(RtrKind.READ)));
            try (Socket peer = listener.accept()) {
                DataInputStream in = new DataInputStream(peer.getInputStream());
                in.readFully(new byte[REQUEST]);
                peer.getOutputStream().write(reply());
                assertThat(connected.get(10, TimeUnit.SECONDS).peerToPeer()).isTrue();

                CompletableFuture<Void> closed = client.queuePair.disconnect();

                // The Read and the FIN; nothing is said to them.
                assertThat(in.readAllBytes()).isNotEmpty();
                closed.get(10, TimeUnit.SECONDS);
                assertThat(client.queuePair.state()).isEqualTo(QueuePairState.CLOSED);
            }
        }
    }

    private static byte[] reply() {
        byte[] reply = new byte[REQUEST];
        System.arraycopy("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII), 0, reply, 0, 16);
        reply[16] = FLAGS;
        reply[17] = 2;
        reply[19] = 4;
        reply[20] = (byte) PEER_TO_PEER;
        reply[21] = 1;
        reply[22] = READ;
        reply[23] = 1;
        return reply;
    }
}
