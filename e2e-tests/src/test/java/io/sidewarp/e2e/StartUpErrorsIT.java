// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.RawPeer;
import io.sidewarp.e2e.wire.Ulpdu;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests MPA start-up with peers that break its rules, in both roles of a packaged sidecar. */
class StartUpErrorsIT extends MisbehavingPeer {

    private static final int MAX_PRIVATE_DATA = 512;

    static Stream<Arguments> notRequests() {
        byte[] oneOctetWrong = MpaFrame.request(MpaFrame.CRC, NOTHING).encode();
        oneOctetWrong[15] ^= 1;
        return Stream.of(
                Arguments.of("another protocol", "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                Arguments.of("random octets", Pattern.bytes(9, 4096)),
                Arguments.of("a Key with one octet wrong", oneOctetWrong),
                Arguments.of("a Reply", MpaFrame.reply(MpaFrame.CRC, NOTHING).encode()),
                Arguments.of(
                        "513 octets of private data",
                        MpaFrame.request(MpaFrame.CRC, new byte[MAX_PRIVATE_DATA + 1])
                                .encode()),
                Arguments.of(
                        "octets behind the Request",
                        Octets.begin()
                                .put(MpaFrame.request(MpaFrame.CRC, NOTHING).encode())
                                .hex("00 12")
                                .toArray()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("notRequests")
    @Requirement({"MPA-7.1.2-03", "MPA-7.1.1-02", "MPA-7.1.1-10", "MPA-7.1.2-12", "MPA-8-04"})
    void whatIsNoRequestIsClosedWithoutAReply(String what, byte[] octets) throws Exception {
        try (RawPeer peer = RawPeer.connect(port)) {
            peer.sendOctets(octets);
            assertThat(peer.receiveUntilGone()).as("answer to %s", what).isEmpty();
        }
        assertThat(REQUESTS).isEmpty();
    }

    @Test
    @Requirement({"MPA-7.1.1-10", "MPA-7.1.2-03"})
    void aRequestThatEndsEarlyIsClosedWithoutAReply() throws Exception {
        try (RawPeer peer = RawPeer.connect(port)) {
            peer.sendOctets(MpaFrame.request(MpaFrame.CRC, new byte[10]).encode(20));
            peer.closeOutput();
            assertThat(peer.receiveUntilGone()).isEmpty();
        }
        assertThat(REQUESTS).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 255})
    @Requirement("MPA-7.1.1-09")
    void aRevisionThatCannotBeUsedIsAnsweredWithTheOwnAndClosed(int revision) throws Exception {
        assertAnsweredWithRevision1AndClosed(port, revision);
    }

    @Test
    @Requirement({"MPA-7.1.1-09", "MPA-C.2.1-01", "MPA-C.2-01"})
    void anRdmacPeerIsAnsweredWithTheOwnRevisionAndClosedIfTheListenerWantsNone() throws Exception {
        ListenOptions ietfOnly = ListenOptions.defaults()
                .withConnections(ConnectionOptions.builder().mpaRevisions(1, 2).build());
        try (Listener listener = session.listen(Link.LOOPBACK, 0, ietfOnly, REQUESTS::add)) {
            assertAnsweredWithRevision1AndClosed(listener.port(), 0);
        }
    }

    private static void assertAnsweredWithRevision1AndClosed(int listening, int revision) throws Exception {
        try (RawPeer peer = RawPeer.connect(listening)) {
            peer.sendOctets(new MpaFrame(MpaFrame.REQUEST_KEY, 0xC0, revision, NOTHING).encode());
            MpaFrame reply = peer.readFrame();
            assertThat(reply.key()).isEqualTo(MpaFrame.REPLY_KEY);
            assertThat(reply.revision()).isEqualTo(1);
            assertThat(peer.receiveRest()).isEmpty();
        }
        assertThat(REQUESTS).isEmpty();
    }

    @Test
    @Requirement({"MPA-C.2.4-01", "MPA-C.2.3-01"})
    void anRdmacPeerGetsRevision0MarkersAndCrcs() throws Exception {
        try (RawPeer peer = RawPeer.connect(port)) {
            peer.sendOctets(new MpaFrame(MpaFrame.REQUEST_KEY, 0xC0, 0, NOTHING).encode());
            Connection connection = nextRequest().accept(ConnectionOptions.defaults());
            MpaFrame reply = peer.readFrame();
            assertThat(reply.flags()).isEqualTo(0xC0);
            assertThat(reply.revision()).isZero();
            assertThat(connection.established().agreed().protocolVersion()).isZero();
            assertThat(connection.established().agreed().mpaRevision()).isZero();
            assertThat(connection.established().agreed().receiveMarkers()).isTrue();
            assertThat(connection.established().agreed().sendMarkers()).isTrue();
            connection.abort();
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-13", "MPA-7.1.2-02"})
    void aRequestThatDoesNotGoOnIsGivenUp() throws Exception {
        try (SidecarProcess impatient = impatient();
                SidewarpClient client = impatient.client();
                Session own = client.openSession("impatient");
                Listener listener = own.listen(Link.LOOPBACK, 0, REQUESTS::add);
                RawPeer peer = RawPeer.connect(listener.port())) {
            peer.sendOctets(
                    Arrays.copyOf(MpaFrame.request(MpaFrame.CRC, NOTHING).encode(), 19));
            assertThat(peer.receiveUntilGone()).isEmpty();
        }
        assertThat(REQUESTS).isEmpty();
    }

    private static SidecarProcess impatient() {
        return SidecarProcess.with("impatient")
                .set("sidewarp.connection.timeout", "3s")
                .start();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x20, 0x0F})
    @Requirement({"MPA-7.1.1-06", "MPA-7.1.1-07"})
    void theRejectBitAndReservedBitsOfARequestAreIgnored(int bits) throws Exception {
        try (RawStream stream = open(RawPeer.connect(port), MpaFrame.CRC | bits, ConnectionOptions.defaults())) {
            assertAnswers(stream.peer());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 511, 512})
    @Requirement({"MPA-7.1.1-11", "MPA-7.1.1-10", "MPA-7.1-03", "MPA-7.1.1-01", "MPA-7.1.1-03", "MPA-7.1.1-08"})
    void privateDataGoesBothWaysUnchanged(int octets) throws Exception {
        byte[] there = Pattern.bytes(1, octets);
        byte[] back = Pattern.bytes(2, octets);
        try (RawPeer peer = RawPeer.connect(port)) {
            peer.sendOctets(MpaFrame.request(MpaFrame.CRC, there).encode());
            var request = nextRequest();
            assertThat(request.privateData()).isEqualTo(there);
            Connection connection =
                    request.accept(ConnectionOptions.builder().privateData(back).build());
            MpaFrame reply = peer.readFrame();
            assertThat(reply.flags()).isEqualTo(MpaFrame.CRC);
            assertThat(reply.revision()).isEqualTo(1);
            assertThat(reply.privateData()).isEqualTo(back);
            connection.abort();
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-04", "MPA-7.1.1-06"})
    void aRejectedPeerGetsAReplyThatSaysSo() throws Exception {
        try (RawPeer peer = RawPeer.connect(port)) {
            peer.sendOctets(MpaFrame.request(MpaFrame.CRC, NOTHING).encode());
            byte[] reason = "not today".getBytes(StandardCharsets.US_ASCII);
            nextRequest().reject(reason);
            MpaFrame reply = peer.readFrame();
            assertThat(reply.has(MpaFrame.REJECT)).isTrue();
            assertThat(reply.privateData()).isEqualTo(reason);
            assertThat(peer.receiveRest()).isEmpty();
        }
    }

    static Stream<Arguments> notReplies() {
        return Stream.of(
                Arguments.of("random octets", Pattern.bytes(10, 100)),
                Arguments.of(
                        "a Request", MpaFrame.request(MpaFrame.CRC, NOTHING).encode()),
                Arguments.of("revision 0", new MpaFrame(MpaFrame.REPLY_KEY, 0xC0, 0, NOTHING).encode()),
                Arguments.of(
                        "513 octets of private data",
                        MpaFrame.reply(MpaFrame.CRC, new byte[MAX_PRIVATE_DATA + 1])
                                .encode()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("notReplies")
    @Requirement({"MPA-7.1.2-06", "MPA-7.1.1-03", "MPA-C.2.2-01", "MPA-7.1.2-11", "MPA-8-04", "MPA-7.1.2-01"})
    void anAnswerThatIsNoReplyFailsTheConnect(String what, byte[] answer) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> connecting = session.connectAsync(
                    Link.LOOPBACK,
                    server.getLocalPort(),
                    ConnectionOptions.builder().mpaRevisions(1, 2).build());
            try (RawPeer peer = RawPeer.accept(server)) {
                MpaFrame request = peer.readFrame();
                assertThat(request.key()).isEqualTo(MpaFrame.REQUEST_KEY);
                assertThat(request.flags()).isEqualTo(MpaFrame.CRC);
                peer.sendOctets(answer);
                assertThat(peer.receiveUntilGone()).as("octets behind %s", what).isEmpty();
            }
            assertThatThrownBy(() -> Patience.get(connecting)).isInstanceOf(SidewarpException.class);
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-07", "MPA-7.1.1-06"})
    void aRejectingReplyGivesItsPrivateDataToTheApplication() throws Exception {
        byte[] reason = Pattern.bytes(11, MAX_PRIVATE_DATA);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> connecting =
                    session.connectAsync(Link.LOOPBACK, server.getLocalPort(), ConnectionOptions.defaults());
            try (RawPeer peer = RawPeer.accept(server)) {
                peer.readFrame();
                peer.sendOctets(
                        MpaFrame.reply(MpaFrame.CRC | MpaFrame.REJECT, reason).encode());
                assertThatThrownBy(() -> Patience.get(connecting))
                        .isInstanceOfSatisfying(
                                ConnectionRejectedException.class,
                                rejection -> assertThat(rejection.privateData()).isEqualTo(reason));
                assertThat(peer.receiveRest()).isEmpty();
            }
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-13", "MPA-7.1.2-01"})
    void aPeerThatDoesNotAnswerIsGivenUp() throws Exception {
        try (SidecarProcess impatient = impatient();
                SidewarpClient client = impatient.client();
                Session own = client.openSession("impatient");
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> connecting =
                    own.connectAsync(Link.LOOPBACK, server.getLocalPort(), ConnectionOptions.defaults());
            try (RawPeer peer = RawPeer.accept(server)) {
                peer.readFrame();
                assertThatThrownBy(() -> Patience.get(connecting))
                        .isInstanceOf(SidewarpException.class)
                        .hasMessageContaining(Link.LOOPBACK);
            }
        }
    }

    @Test
    void aPortWithoutAListenerFailsTheConnectWithItsCause() throws Exception {
        int free;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = server.getLocalPort();
        }
        assertThatThrownBy(() -> session.connect(Link.LOOPBACK, free))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining(Link.LOOPBACK)
                .hasMessageContaining(Integer.toString(free));
    }

    private static void assertAnswers(RawPeer peer) throws Exception {
        peer.send(Ulpdu.readRequest(1, 0, 0, 0, 0, 0));
        assertThat(Ulpdu.opcode(peer.receive().orElseThrow())).isEqualTo(Ulpdu.READ_RESPONSE & 0x0F);
    }
}
