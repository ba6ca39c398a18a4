// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests associations over a path that drops packets which the local interface accepts. */
final class NarrowPathTest {

    /** Bytes that UDP carries in IP packets of 1,400. */
    private static final int NARROW = 1400 - 28;

    private static final int MTU = 9000;
    private static final int LARGE = PathMtu.messageSize(PathMtu.packetSize(true, MTU));
    private static final int SMALL = PathMtu.messageSize(PathMtu.packetSize(true, PathProbe.SAFE_MTU));

    private SctpBed bed;
    private UdpRelay relay;
    private RecordingUser client;
    private RecordingUser server;

    @BeforeEach
    void open() throws Exception {
        bed = new SctpBed();
    }

    @AfterEach
    void close() throws Exception {
        bed.close();
        relay.close();
    }

    private void connect(int widest) throws Exception {
        SctpSettings settings = SctpBed.settings().toBuilder()
                .maxPathMtu(MTU)
                .rtoInitial(Duration.ofMillis(200))
                .build();
        SctpEndpoint passive = bed.open(SctpBed.DDP, settings);
        SctpListener listener = bed.listen(passive);
        relay = new UdpRelay(new InetSocketAddress(SctpBed.LOOPBACK, passive.udpPort()), 8899, 0);
        relay.narrow(widest);
        client = bed.connect(bed.open(SctpBed.DDP, settings), listener.port(), relay.port());
        server = bed.takeAccepted();
    }

    @Test
    void dataMovesInBothDirectionsOverPathThatSwallowsLargePackets() throws Exception {
        connect(NARROW);

        // Many at a time, which SCTP bundles into packets as large as the interface takes.
        for (int i = 0; i < 200; i++) {
            client.send(0, 16, new byte[SMALL]);
            server.send(0, 16, new byte[SMALL]);
        }

        for (int i = 0; i < 200; i++) {
            assertThat(server.takeMessage().octets()).hasSize(SMALL);
            assertThat(client.takeMessage().octets()).hasSize(SMALL);
        }
        assertThat(client.association.maxMessage()).isEqualTo(SMALL);
    }

    @Test
    void packetsGrowToInterfaceSizeOnPathThatCarriesThem() throws Exception {
        connect(Integer.MAX_VALUE);

        Awaitility.await()
                .atMost(SctpBed.PATIENCE)
                .until(() -> client.association.maxMessage() == LARGE && server.association.maxMessage() == LARGE);
        client.send(0, 16, new byte[LARGE]);

        assertThat(server.takeMessage().octets()).hasSize(LARGE);
    }

    @Test
    void packetsGrowWhenPathBecomesWide() throws Exception {
        connect(NARROW);
        assertThat(client.association.maxMessage()).isEqualTo(SMALL);

        relay.narrow(Integer.MAX_VALUE);

        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> client.association.maxMessage() == LARGE);
    }
}
