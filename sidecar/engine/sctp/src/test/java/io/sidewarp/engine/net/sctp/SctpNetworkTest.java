// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import java.lang.ref.WeakReference;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests associations over a network that loses and reorders packets, changes ports or goes away. */
final class SctpNetworkTest {

    /** SCTP ports that associations begin at. */
    private static final int PORTS = 16_384;

    private SctpBed bed;
    private SctpEndpoint passive;
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

    private void connect(double disturbance, SctpSettings settings) throws Exception {
        passive = bed.open(SctpBed.DDP, settings);
        SctpListener listener = bed.listen(passive);
        relay = new UdpRelay(new InetSocketAddress(SctpBed.LOOPBACK, passive.udpPort()), 6951, disturbance);
        client = bed.connect(bed.open(SctpBed.DDP, settings), listener.port(), relay.port());
        server = bed.takeAccepted();
    }

    /** Narrow packets, so that there are many, and quick retransmission. */
    private static SctpSettings narrow(int associationRetransmissions) {
        return SctpBed.settings().toBuilder()
                .maxPathMtu(1500)
                .heartbeatInterval(Duration.ofMillis(200))
                .sackDelay(Duration.ofMillis(10))
                .rtoMin(Duration.ofMillis(50))
                .rtoInitial(Duration.ofMillis(200))
                .rtoMax(Duration.ofMillis(200))
                .pathRetransmissions(associationRetransmissions)
                .associationRetransmissions(associationRetransmissions)
                .build();
    }

    @Test
    void allMessagesArriveOnceOverALossyNetworkThatReorders() throws Exception {
        connect(0.03, narrow(100));
        Random random = new Random(4960);
        Set<String> expected = new HashSet<>();
        for (int i = 0; i < 2000; i++) {
            byte[] octets = new byte[1 + random.nextInt(client.association.maxMessage())];
            random.nextBytes(octets);
            expected.add(i % 64 + " " + Arrays.hashCode(octets) + " " + octets.length);
            client.send(i % 64, 16, octets);
        }
        for (int i = 0; i < 2000; i++) {
            RecordingUser.Message message = server.takeMessage();
            String found = message.stream() + " " + Arrays.hashCode(message.octets()) + " " + message.octets().length;
            assertThat(expected.remove(found)).as(found).isTrue();
        }
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> client.acknowledgements.get() == 2000);
        assertThat(server.messages).isEmpty();
    }

    @Test
    void attemptThatCannotBeginCountsForNoLimit() throws Exception {
        SctpSettings one = SctpBed.settings().toBuilder().maxAssociations(1).build();
        connect(0, one);
        SctpEndpoint active = bed.open(SctpBed.DDP, one);
        SctpDestination destination = new SctpDestination(SctpBed.LOOPBACK, 7471, 9);
        for (int i = 0; i < 2; i++) {
            // No timer takes so much time.
            assertThat(active.connect(destination, Duration.ofSeconds(Long.MAX_VALUE), RecordingUser::new))
                    .failsWithin(SctpBed.PATIENCE)
                    .withThrowableThat()
                    .withMessageContaining("this side failed");
        }
    }

    @Test
    @Requirement("UDP-5.4-01")
    void repliesFollowThePeerToAnotherUdpPort() throws Exception {
        connect(0, narrow(100));
        int before = server.association.remoteUdpPort();

        relay.move();
        client.send(0, 16, new byte[100]);
        assertThat(server.takeMessage().octets()).hasSize(100);
        server.send(0, 16, new byte[200]);

        assertThat(client.takeMessage().octets()).hasSize(200);
        assertThat(server.association.remoteUdpPort()).isNotEqualTo(before);
        assertThat(passive.count(SctpCounter.PORT_MOVES)).isOne();
    }

    @Test
    void initsInThePeersNameLeaveAnAssociationAsItIs() throws Exception {
        connect(0, narrow(100));
        byte[] init = StrangersPackets.init(
                client.association.localAddress().getPort(),
                server.association.localAddress().getPort());
        for (int i = 0; i < 8; i++) {
            relay.forge(init);
        }

        server.send(0, 16, new byte[100]);

        assertThat(client.takeMessage().octets()).hasSize(100);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> server.acknowledgements.get() == 1);
    }

    @Test
    void aMessageCountsAsAcknowledgedOnlyWhenItsSackHasArrived() throws Exception {
        connect(0, narrow(100));
        relay.silenceToClient(true);
        client.send(0, 16, new byte[100]);
        server.takeMessage();
        server.send(0, 16, new byte[100]);
        assertThat(client.acknowledgements).hasValue(0);

        relay.silenceToClient(false);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> client.acknowledgements.get() == 1);
    }

    @Test
    void aPeerThatAcknowledgesNothingLosesTheAssociation() throws Exception {
        bed.close();
        bed = new SctpBed(
                new SctpOverUdp(Usrsctp.load()), NetSettings.defaults().withStallTimeout(Duration.ofMillis(300)));
        connect(0, narrow(100));
        relay.silenceToClient(true);
        client.send(0, 16, new byte[100]);

        assertThat(client.end())
                .isEqualTo(new RecordingUser.End(
                        false, "the peer acknowledged nothing for 300 ms (sidewarp.connection.stall-timeout)"));
        assertThat(bed.limits).containsExactly(PeerLimit.STALL);
        assertThat(server.end().cause()).contains("acknowledged nothing");
    }

    @Test
    void anAssociationThatHasEndedIsNotKeptForTheStallTimeout() throws Exception {
        connect(0, narrow(100));
        server.send(0, 16, new byte[100]);
        client.takeMessage();
        client.association.loop().execute(() -> client.association.abort("enough"));
        server.end();

        WeakReference<SctpAssociation> ended = new WeakReference<>(server.association);
        server = null;

        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> {
            System.gc();
            return ended.get() == null;
        });
    }

    @Test
    @Requirement("UDP-5.5-01")
    void aPeerThatIsGoneIsNoticedByTimeouts() throws Exception {
        connect(0, narrow(4));
        relay.silence();
        client.send(0, 16, new byte[100]);

        assertThat(client.end()).isEqualTo(new RecordingUser.End(false, "the peer does not answer"));
        assertThat(server.end()).isEqualTo(new RecordingUser.End(false, "the peer does not answer"));
    }

    @Test
    void aPeerThatWasRestartedSaysThatItKnowsNoSuchAssociation() throws Exception {
        connect(0, narrow(100));
        SctpEndpoint restarted = bed.open(SctpBed.DDP, narrow(100));
        relay.redirect(new InetSocketAddress(SctpBed.LOOPBACK, restarted.udpPort()));

        client.send(0, 16, new byte[100]);

        assertThat(client.end().cause()).startsWith("the peer knows no such association");
    }

    @Test
    @Requirement("UDP-5.5-01")
    void icmpEndsNoAssociation() throws Exception {
        connect(0, narrow(100));
        int port = relay.outsidePort();
        relay.leave();
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> !relay.isThere());
        assertIcmpFrom(port);
        long before = passive.count(SctpCounter.SENT_PACKETS);

        server.send(0, 16, new byte[100]);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> passive.count(SctpCounter.SENT_PACKETS) >= before + 2);
        relay.moveTo(port);

        assertThat(client.takeMessage().octets()).hasSize(100);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> server.acknowledgements.get() == 1);
    }

    /** The system tells by ICMP that nobody is at a port. */
    private static void assertIcmpFrom(int port) throws Exception {
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.setSoTimeout((int) SctpBed.PATIENCE.toMillis());
            probe.connect(new InetSocketAddress(SctpBed.LOOPBACK, port));
            probe.send(new DatagramPacket(new byte[1], 1));
            assertThatThrownBy(() -> probe.receive(new DatagramPacket(new byte[1], 1)))
                    .isInstanceOf(PortUnreachableException.class);
        }
    }

    @Test
    void aPeerWhoseUdpPortAnotherOneTookIsNoticedToBeGone() throws Exception {
        connect(0, narrow(4));
        int port = client.association.localAddress().getPort();
        UdpRelay lost = new UdpRelay(new InetSocketAddress(SctpBed.LOOPBACK, passive.udpPort()), 6951, 0);
        bed.connect(beginningAt(port), server.association.localAddress().getPort(), lost.port());
        RecordingUser gone = bed.takeAccepted();
        assertThat(gone.association.remoteAddress()).isEqualTo(server.association.remoteAddress());
        int udpPort = lost.outsidePort();
        lost.close();

        relay.moveTo(udpPort);
        client.send(0, 16, new byte[100]);

        server.takeMessage();
        assertThat(server.association.remoteUdpPort()).isEqualTo(udpPort);
        assertThat(gone.end()).isEqualTo(new RecordingUser.End(false, "the peer does not answer"));
        server.send(0, 16, new byte[200]);
        assertThat(client.takeMessage().octets()).hasSize(200);
    }

    /** An endpoint whose next association has that SCTP port here: it takes one after the other. */
    private SctpEndpoint beginningAt(int port) throws Exception {
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, narrow(4));
        for (int i = 0; i < PORTS; i++) {
            SctpListener listener = bed.listen(endpoint);
            listener.close().get(10, TimeUnit.SECONDS);
            if ((listener.port() + 1 - port) % PORTS == 0) {
                return endpoint;
            }
        }
        throw new AssertionError("port " + port + " did not come");
    }
}
