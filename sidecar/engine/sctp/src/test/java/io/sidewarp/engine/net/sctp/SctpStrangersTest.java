// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how an endpoint handles packets of strangers, and settings that it cannot have. */
final class SctpStrangersTest {

    private static final int HEADERS = StrangersPackets.HEADERS;

    private final List<DatagramSocket> strangers = new ArrayList<>();
    private SctpBed bed;

    @BeforeEach
    void open() {
        bed = new SctpBed();
    }

    @AfterEach
    void close() throws Exception {
        strangers.forEach(DatagramSocket::close);
        bed.close();
    }

    private DatagramSocket stranger() throws IOException {
        return stranger(SctpBed.LOOPBACK);
    }

    private DatagramSocket stranger(InetAddress address) throws IOException {
        DatagramSocket socket = new DatagramSocket(0, address);
        socket.setSoTimeout(10_000);
        strangers.add(socket);
        return socket;
    }

    private static byte[] init(int port) {
        return StrangersPackets.init(1000, port);
    }

    private static void send(DatagramSocket from, byte[] packet, SctpEndpoint to) throws IOException {
        from.send(new DatagramPacket(packet, packet.length, SctpBed.LOOPBACK, to.udpPort()));
    }

    private static WireBuffer receive(DatagramSocket socket) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65535], 65535);
        socket.receive(packet);
        return WireBuffer.copyOf(Arrays.copyOf(packet.getData(), packet.getLength()));
    }

    @Test
    @Requirement("SCTP-5.1-01")
    void theInitAckCarriesTheAdaptationIndicationAndEqualStreamCounts() throws Exception {
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, SctpBed.settings());
        DatagramSocket stranger = stranger();
        send(stranger, init(bed.listen(endpoint).port()), endpoint);

        WireBuffer answer = receive(stranger);
        assertThat(SctpPacketFlyweight.chunkType(answer, HEADERS)).isEqualTo(SctpPacketFlyweight.INIT_ACK);
        assertThat(SctpPacketFlyweight.verificationTag(answer)).isEqualTo(StrangersPackets.TAG);
        assertThat(parameter(answer, 0xC006)).containsExactly(0xC0, 0x06, 0, 8, 0, 0, 0, 1);
        assertThat(parameter(answer, 5)).as("an IPv4 address").isEmpty();
    }

    private static List<Integer> parameter(WireBuffer packet, int type) {
        List<Integer> octets = new ArrayList<>();
        int offset = StrangersPackets.INIT_PACKET;
        while (offset + 4 <= packet.capacity()) {
            int length = packet.getUnsignedShort(offset + 2);
            if (packet.getUnsignedShort(offset) == type) {
                for (int i = 0; i < length; i++) {
                    octets.add(packet.getUnsignedByte(offset + i));
                }
            }
            offset += Math.max(4, length + 3 & ~3);
        }
        return octets;
    }

    @Test
    @Requirement("UDP-5.3-02")
    void aPacketWithAWrongChecksumIsDropped() throws Exception {
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, SctpBed.settings());
        byte[] packet = init(bed.listen(endpoint).port());
        packet[packet.length - 1] ^= 1;
        DatagramSocket stranger = stranger();
        send(stranger, packet, endpoint);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> endpoint.count(SctpCounter.BAD_CHECKSUM) == 1);

        assertThat(endpoint.count(SctpCounter.SENT_PACKETS)).isZero();
    }

    @Test
    void halfOpenAssociationsGiveWayToNewerOnesAndExpire() throws Exception {
        SctpSettings settings = SctpBed.settings().toBuilder()
                .maxHalfOpen(8)
                .halfOpenTimeout(Duration.ofMillis(300))
                .build();
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, settings);
        int port = bed.listen(endpoint).port();
        for (int i = 0; i < 50; i++) {
            DatagramSocket stranger = stranger();
            send(stranger, init(port), endpoint);
            assertThat(SctpPacketFlyweight.chunkType(receive(stranger), HEADERS))
                    .isEqualTo(SctpPacketFlyweight.INIT_ACK);
        }
        Awaitility.await().atMost(SctpBed.PATIENCE).untilAsserted(() -> {
            long expired = endpoint.count(SctpCounter.HALF_OPEN_EXPIRED);
            assertThat(expired).isPositive();
            assertThat(endpoint.count(SctpCounter.HALF_OPEN_EVICTED) + expired).isEqualTo(50);
        });

        bed.connect(bed.open(SctpBed.DDP, SctpBed.settings()), port, endpoint.udpPort());
        assertThat(bed.takeAccepted().association.localAddress().getPort()).isEqualTo(port);
    }

    @Test
    void aFloodFromOneAddressTakesNoHalfOpenAssociationFromOthers() throws Exception {
        SctpEndpoint endpoint = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().maxHalfOpen(8).build());
        int port = bed.listen(endpoint).port();
        DatagramSocket honest = stranger(InetAddress.ofLiteral("127.0.0.2"));
        send(honest, init(port), endpoint);
        WireBuffer initAck = receive(honest);
        for (int i = 0; i < 50; i++) {
            DatagramSocket flood = stranger();
            send(flood, init(port), endpoint);
            receive(flood);
        }
        assertThat(endpoint.count(SctpCounter.HALF_OPEN_EVICTED)).isPositive();

        send(honest, StrangersPackets.cookieEcho(initAck), endpoint);

        assertThat(SctpPacketFlyweight.chunkType(receive(honest), HEADERS)).isEqualTo(SctpPacketFlyweight.COOKIE_ACK);
    }

    @Test
    void newerAssociationsOfManyAddressesTakeThePlaceOfTheOldest() throws Exception {
        SctpEndpoint endpoint = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().maxHalfOpen(8).build());
        int port = bed.listen(endpoint).port();
        for (int i = 1; i <= 20; i++) {
            DatagramSocket stranger = stranger(InetAddress.ofLiteral("127.0.1." + i));
            send(stranger, init(port), endpoint);
            receive(stranger);
        }

        assertThat(endpoint.count(SctpCounter.HALF_OPEN_EVICTED)).isEqualTo(12);
    }

    /** Two lost COOKIE ECHOs of a peer whose time-out begins with 3 s, as RFC 4960 has it, take 9 s. */
    @Test
    void anAssociationIsHalfOpenAsLongAsItsCookieIsGood() {
        assertThat(SctpSettings.defaults().halfOpenTimeout()).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void associationsAboveTheLimitAreRefused() throws Exception {
        SctpEndpoint endpoint = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().maxAssociations(2).build());
        int port = bed.listen(endpoint).port();
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        bed.connect(active, port, endpoint.udpPort());
        bed.connect(active, port, endpoint.udpPort());
        bed.takeAccepted();
        bed.takeAccepted();

        assertThatThrownBy(() -> bed.connect(active, port, endpoint.udpPort()))
                .hasCauseInstanceOf(SctpConnectException.class)
                .satisfies(e -> assertThat(((SctpConnectException) e.getCause()).reason())
                        .isEqualTo(SctpConnectException.Reason.REFUSED));
        assertThat(endpoint.count(SctpCounter.REFUSED)).isPositive();
    }

    /** With the cause Out of Resource (RFC 9260 section 3.3.10.4), and no longer than what may have a forged source. */
    @Test
    void anInitAboveTheLimitIsAnsweredWithTheCause() throws Exception {
        SctpEndpoint endpoint = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().maxAssociations(1).build());
        int port = bed.listen(endpoint).port();
        bed.connect(bed.open(SctpBed.DDP, SctpBed.settings()), port, endpoint.udpPort());
        bed.takeAccepted();
        DatagramSocket peer = stranger();
        send(peer, init(port), endpoint);

        WireBuffer answer = receive(peer);

        assertThat(SctpPacketFlyweight.verificationTag(answer)).isEqualTo(StrangersPackets.TAG);
        assertThat(SctpPacketFlyweight.chunkType(answer, HEADERS)).isEqualTo(SctpPacketFlyweight.ABORT);
        assertThat(SctpPacketFlyweight.chunkFlags(answer, HEADERS)).isZero();
        assertThat(SctpPacketFlyweight.chunkLength(answer, HEADERS)).isEqualTo(8);
        assertThat(answer.getInt(HEADERS + 4)).isEqualTo(4 << 16 | 4);
        assertThat(init(port)).hasSizeGreaterThan(HEADERS + 8);
    }

    @Test
    void associationsOfPeersLeaveRoomForThoseThatBeginHere() throws Exception {
        SctpSettings one = SctpBed.settings().toBuilder().maxAssociations(1).build();
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, one);
        SctpEndpoint other = bed.open(SctpBed.DDP, one);
        bed.connect(other, bed.listen(endpoint).port(), endpoint.udpPort());
        bed.takeAccepted();

        RecordingUser back = bed.connect(endpoint, bed.listen(other).port(), other.udpPort());

        assertThat(bed.takeAccepted().association.remoteAddress()).isEqualTo(back.association.localAddress());
        assertThatThrownBy(() -> bed.connect(endpoint, 7, other.udpPort()))
                .cause()
                .isInstanceOfSatisfying(
                        SctpConnectException.class,
                        e -> assertThat(e.reason()).isEqualTo(SctpConnectException.Reason.LIMIT));
    }

    @Test
    void aPortWhereNobodyListensRefuses() throws Exception {
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());

        Throwable failure = catchThrowable(() -> bed.connect(active, 7, endpoint.udpPort()));
        assertThat(failure).isInstanceOf(ExecutionException.class);
        assertThat(failure.getCause())
                .isInstanceOfSatisfying(
                        SctpConnectException.class,
                        e -> assertThat(e.reason()).isEqualTo(SctpConnectException.Reason.REFUSED));
    }

    @Test
    void aPeerThatBreaksTheRulesOfSctpIsNotToldAsSilent() throws Exception {
        SctpEndpoint endpoint = bed.open(OptionalInt.empty(), SctpBed.settings());
        DatagramSocket peer = stranger();
        send(peer, init(bed.listen(endpoint).port()), endpoint);
        WireBuffer initAck = receive(peer);
        send(peer, StrangersPackets.cookieEcho(initAck), endpoint);
        RecordingUser user = bed.takeAccepted();

        int tooShort = SctpPacketFlyweight.DATA_HEADER_LENGTH - 4;
        send(peer, StrangersPackets.zeros(initAck, SctpPacketFlyweight.DATA, tooShort), endpoint);

        assertThat(user.end())
                .isEqualTo(
                        new RecordingUser.End(
                                false,
                                "what the peer sent made SCTP abort the association with cause code 13: DATA chunk of length 12"));
    }

    @Test
    void aPeerWithoutSctpDoesNotAnswer() throws Exception {
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpDestination nobody =
                new SctpDestination(SctpBed.LOOPBACK, 7, stranger().getLocalPort());

        assertThatThrownBy(() -> active.connect(nobody, Duration.ofMillis(300), bed::accept)
                        .get(20, TimeUnit.SECONDS))
                .cause()
                .hasMessage("no answer within 300 ms")
                .isInstanceOfSatisfying(
                        SctpConnectException.class,
                        e -> assertThat(e.reason()).isEqualTo(SctpConnectException.Reason.NO_ANSWER));
    }

    @Test
    void aPeerWhoseAnswerIsOfNoUseEndsTheAttemptAtOnce() throws Exception {
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        DatagramSocket peer = stranger();
        CompletableFuture<SctpAssociation> attempt = active.connect(
                new SctpDestination(SctpBed.LOOPBACK, 7, peer.getLocalPort()), Duration.ofHours(1), bed::accept);

        send(peer, StrangersPackets.initAckWithoutStreams(receive(peer)), active);

        assertThatThrownBy(() -> attempt.get(20, TimeUnit.SECONDS))
                .cause()
                .hasMessageContaining("SCTP ended the attempt")
                .isInstanceOfSatisfying(
                        SctpConnectException.class,
                        e -> assertThat(e.reason()).isEqualTo(SctpConnectException.Reason.REFUSED));
    }

    @Test
    void closingTheEndpointEndsAnAttemptToConnect() throws Exception {
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        CompletableFuture<SctpAssociation> attempt = active.connect(
                new SctpDestination(SctpBed.LOOPBACK, 7, stranger().getLocalPort()), SctpBed.PATIENCE, bed::accept);
        active.close().get(10, TimeUnit.SECONDS);

        assertThatThrownBy(() -> attempt.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        SctpConnectException.class,
                        e -> assertThat(e.reason()).isEqualTo(SctpConnectException.Reason.ABORTED));
    }

    @Test
    void anAttemptForWhichThereIsNoMemoryFailsAtOnce() throws Exception {
        SctpProtocol poor = new SctpProtocol() {
            @Override
            public SctpSocket open(
                    int localPort,
                    int packetSize,
                    OptionalInt adaptation,
                    SctpSettings settings,
                    SctpPacketOutput output) {
                throw new OutOfMemoryError("no native memory");
            }

            @Override
            public void tick() {}
        };
        bed.close();
        bed = new SctpBed(new SctpOverUdp(poor));
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());

        assertThatThrownBy(() -> bed.connect(active, 7, stranger().getLocalPort()))
                .cause()
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("no native memory");
    }

    @Test
    void aHandlerThatFailsEndsTheAttemptToConnect() throws Exception {
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpDestination destination =
                new SctpDestination(SctpBed.LOOPBACK, bed.listen(passive).port(), passive.udpPort());
        CompletableFuture<SctpAssociation> attempt = active.connect(destination, SctpBed.PATIENCE, association -> {
            throw new IllegalStateException("no user for this one");
        });

        assertThatThrownBy(() -> attempt.get(20, TimeUnit.SECONDS)).hasMessageContaining("no user for this one");
        assertThat(bed.takeAccepted().end().graceful()).isFalse();
    }

    @Test
    void anEndpointWhoseUdpPortIsTakenCanConnectButNotListen() throws Exception {
        SctpEndpoint first = bed.open(SctpBed.DDP, SctpBed.settings());
        int port = bed.listen(first).port();
        SctpEndpoint second = bed.open(
                SctpBed.DDP,
                SctpBed.settings().toBuilder().udpPort(first.udpPort()).build());

        bed.connect(second, port, first.udpPort());
        assertThat(second.udpPort()).isNotEqualTo(first.udpPort());
        assertThatThrownBy(() -> bed.listen(second))
                .cause()
                .isInstanceOf(BindException.class)
                .hasMessageContaining("UDP port " + first.udpPort());
    }

    @Test
    void anEndpointListensOnceItsUdpPortIsFree() throws Exception {
        DatagramSocket other = stranger();
        int wanted = other.getLocalPort();
        SctpEndpoint displaced = bed.open(
                SctpBed.DDP, SctpBed.settings().toBuilder().udpPort(wanted).build());
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        RecordingUser client = bed.connect(displaced, bed.listen(passive).port(), passive.udpPort());
        RecordingUser server = bed.takeAccepted();
        assertThat(displaced.udpPort()).isNotEqualTo(wanted);
        other.close();

        SctpListener listener = bed.listen(displaced);

        assertThat(displaced.udpPort()).isEqualTo(wanted);
        bed.connect(passive, listener.port(), wanted);
        assertThat(bed.takeAccepted().association.localAddress().getPort()).isEqualTo(listener.port());
        server.send(0, 16, new byte[10]);
        assertThat(client.takeMessage().octets()).hasSize(10);
        client.send(0, 16, new byte[20]);
        assertThat(server.takeMessage().octets()).hasSize(20);
        assertThat(server.association.remoteUdpPort()).isEqualTo(wanted);
    }

    @Test
    void anSctpPortHasOneListener() throws Exception {
        SctpEndpoint endpoint = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpListener listener = bed.listen(endpoint);
        assertThatThrownBy(() -> endpoint.listen(listener.port(), bed::accept).get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(BindException.class);

        listener.close().get(10, TimeUnit.SECONDS);
        assertThat(endpoint.listen(listener.port(), bed::accept)
                        .get(10, TimeUnit.SECONDS)
                        .port())
                .isEqualTo(listener.port());
    }

    @Test
    @Requirement("UDP-5.4-01")
    void aPacketWithATagOfNobodyMovesNoPort() throws Exception {
        SctpEndpoint passive = bed.open(SctpBed.DDP, SctpBed.settings());
        SctpEndpoint active = bed.open(SctpBed.DDP, SctpBed.settings());
        RecordingUser client = bed.connect(active, bed.listen(passive).port(), passive.udpPort());
        RecordingUser server = bed.takeAccepted();
        InetSocketAddress peer = server.association.remoteAddress();
        WireBuffer packet = WireBuffer.allocate(HEADERS + SctpPacketFlyweight.SACK_LENGTH);
        SctpPacketFlyweight.header(
                packet, peer.getPort(), server.association.localAddress().getPort(), 0x0BADBAD0);
        SctpPacketFlyweight.chunk(packet, HEADERS, SctpPacketFlyweight.SACK, 0, SctpPacketFlyweight.SACK_LENGTH);
        DatagramSocket stranger = stranger();
        send(stranger, StrangersPackets.finished(packet), passive);

        WireBuffer answer = receive(stranger);
        assertThat(SctpPacketFlyweight.chunkType(answer, HEADERS)).isEqualTo(SctpPacketFlyweight.ABORT);
        assertThat(SctpPacketFlyweight.chunkFlags(answer, HEADERS)).isEqualTo(SctpPacketFlyweight.FLAG_T);
        server.send(1, 16, new byte[10]);
        assertThat(client.takeMessage().stream()).isOne();
        assertThat(passive.count(SctpCounter.PORT_MOVES)).isZero();
        assertThat(server.association.remoteUdpPort()).isEqualTo(active.udpPort());
    }
}
