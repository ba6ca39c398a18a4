// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the packets that associations send over UDP, their times, and their ports. */
final class UdpPacketsTest {

    private static final int DDP_SEGMENT = 16;
    private static final int MESSAGES = 200;

    private SctpBed bed;

    @BeforeEach
    void open() throws Exception {
        bed = new SctpBed();
    }

    @AfterEach
    void close() throws Exception {
        bed.close();
    }

    @Test
    @Requirement("SCTP-11.2-01")
    void aMessageIsNotHeldBackUntilOthersAreAcknowledged() throws Exception {
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpListener listener = bed.listen(passive);
        try (UdpRelay relay = new UdpRelay(new InetSocketAddress(SctpBed.LOOPBACK, passive.udpPort()), 1, 0)) {
            RecordingUser client =
                    bed.connect(bed.open(SctpBed.DDP, SctpBed.settings()), listener.port(), relay.port());
            RecordingUser server = bed.takeAccepted();
            client.send(0, DDP_SEGMENT, new byte[8]);
            server.takeMessage();
            relay.silenceToClient(true);

            for (int i = 1; i <= 5; i++) {
                client.send(0, DDP_SEGMENT, new byte[] {(byte) i});
                assertThat(server.takeMessage().octets()).containsExactly(i);
            }

            assertThat(client.acknowledgements.get()).isLessThanOrEqualTo(1);
            SctpAssociationFacts facts = CompletableFuture.supplyAsync(
                            client.association::facts, client.association.loop())
                    .get(10, TimeUnit.SECONDS);
            assertThat(facts.unacknowledgedChunks()).isGreaterThanOrEqualTo(5);
            relay.silenceToClient(false);
        }
    }

    @Test
    void messagesThatAreSentTogetherShareAPacket() throws Exception {
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        RecordingUser client = bed.connect(active, bed.listen(passive).port(), passive.udpPort());
        RecordingUser server = bed.takeAccepted();
        long before = active.count(SctpCounter.SENT_PACKETS);
        List<byte[]> messages = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            messages.add(new byte[] {(byte) i, (byte) (i >> 8), 7});
        }

        client.sendTogether(3, DDP_SEGMENT, messages);

        List<byte[]> received = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            received.add(server.takeMessage().octets());
        }
        assertThat(received).containsExactlyElementsOf(messages);
        assertThat(active.count(SctpCounter.SENT_PACKETS) - before).isLessThan(MESSAGES / 10);
    }

    @Test
    void aPacketHoldsNoMoreThanThePathTakes() throws Exception {
        // A larger path would be probed, and its answer lets packets grow at any moment of the test.
        SctpSettings settings =
                SctpBed.settings().toBuilder().maxPathMtu(PathProbe.SAFE_MTU).build();
        SctpEndpoint passive = bed.open(SctpBed.DDP, settings);
        SctpEndpoint active = bed.open(SctpBed.DDP, settings);
        RecordingUser client = bed.connect(active, bed.listen(passive).port(), passive.udpPort());
        RecordingUser server = bed.takeAccepted();
        long before = active.count(SctpCounter.SENT_PACKETS);
        int octets = client.association.maxMessage() / 2;

        client.sendTogether(3, DDP_SEGMENT, List.of(new byte[octets], new byte[octets], new byte[octets]));

        for (int i = 0; i < 3; i++) {
            assertThat(server.takeMessage().octets()).hasSize(octets);
        }
        assertThat(active.count(SctpCounter.SENT_PACKETS) - before).isGreaterThanOrEqualTo(2);
        assertThat(passive.count(SctpCounter.MALFORMED)).isZero();
    }

    @Test
    @Requirement("UDP-5.1-01")
    void peersAtOneAddressKeepTheirUdpPorts() throws Exception {
        assertThat(SctpSettings.defaults().udpPort()).isEqualTo(9899);
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpListener listener = bed.listen(passive);
        List<SctpEndpoint> behind = new ArrayList<>();
        List<RecordingUser> clients = new ArrayList<>();
        List<RecordingUser> servers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            behind.add(bed.open(SctpBed.DDP, SctpBed.settings()));
            clients.add(bed.connect(behind.getLast(), listener.port(), passive.udpPort()));
            servers.add(bed.takeAccepted());
        }

        for (int i = 0; i < 2; i++) {
            servers.get(i).send(0, DDP_SEGMENT, new byte[] {(byte) i});
            assertThat(clients.get(i).takeMessage().octets()).containsExactly(i);
            assertThat(servers.get(i).association.remoteUdpPort())
                    .isEqualTo(behind.get(i).udpPort());
            assertThat(clients.get(i).association.remoteUdpPort()).isEqualTo(passive.udpPort());
        }
        assertThat(behind.get(0).udpPort()).isNotEqualTo(behind.get(1).udpPort());
    }

    @Test
    void packetsGoOverIpVersion6AsWell() throws Exception {
        InetAddress loopback = InetAddress.getByName("::1");
        SctpEndpoint passive = bed.open(List.of(loopback), SctpBed.DDP, SctpBed.settings());
        SctpEndpoint active = bed.open(List.of(loopback), SctpBed.DDP, SctpBed.settings());
        RecordingUser client = bed.connect(
                active, new SctpDestination(loopback, bed.listen(passive).port(), passive.udpPort()));
        RecordingUser server = bed.takeAccepted();
        byte[] largest = new byte[client.association.maxMessage()];
        new Random(6).nextBytes(largest);

        client.send(0, DDP_SEGMENT, largest);

        assertThat(server.takeMessage().octets()).isEqualTo(largest);
        assertThat(server.association.remoteAddress().getAddress()).isEqualTo(loopback);
    }

    @Test
    void anAssociationIsPossibleWhereTheUdpSocketHoldsLittle() throws Exception {
        exchange(SctpBed.settings().toBuilder().udpBuffer(4096).maxPathMtu(1500).build());
    }

    @Test
    void anAssociationIsPossibleWithTheSmallestReceiveBuffer() throws Exception {
        exchange(SctpBed.settings().toBuilder()
                .receiveBuffer(smallestReceiveBuffer())
                .build());
    }

    /** The smallest that the settings permit. */
    private static int smallestReceiveBuffer() {
        int refused = 0;
        int permitted = SctpBed.settings().receiveBuffer();
        while (permitted - refused > 1) {
            int between = (refused + permitted) / 2;
            if (isPermitted(between)) {
                permitted = between;
            } else {
                refused = between;
            }
        }
        return permitted;
    }

    private static boolean isPermitted(int receiveBuffer) {
        try {
            SctpBed.settings().toBuilder().receiveBuffer(receiveBuffer).build();
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Sends the largest message to an endpoint with these settings. */
    private void exchange(SctpSettings settings) throws Exception {
        SctpEndpoint passive = bed.open(SctpBed.DDP, settings);
        RecordingUser client = bed.connect(
                bed.open(SctpBed.DDP, SctpBed.settings()), bed.listen(passive).port(), passive.udpPort());
        RecordingUser server = bed.takeAccepted();
        byte[] largest = new byte[client.association.maxMessage()];
        new Random(7).nextBytes(largest);

        client.send(0, DDP_SEGMENT, largest);

        assertThat(server.takeMessage().octets()).isEqualTo(largest);
    }

    @Test
    void aPeerMaySendNoMoreThanTheUdpSocketHolds() throws Exception {
        int granted = 300_000;
        SctpEndpoint passive = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().udpBuffer(granted).build());
        RecordingUser client = bed.connect(
                bed.open(SctpBed.DDP, SctpBed.settings()), bed.listen(passive).port(), passive.udpPort());

        SctpAssociationFacts facts = CompletableFuture.supplyAsync(client.association::facts, client.association.loop())
                .get(10, TimeUnit.SECONDS);

        assertThat(SctpBed.settings().receiveBuffer()).isGreaterThan(granted);
        assertThat(facts.peerWindow()).isLessThanOrEqualTo(granted);
    }
}
