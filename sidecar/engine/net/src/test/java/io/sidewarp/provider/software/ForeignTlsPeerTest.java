// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TestAuthority.Leaf;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.Endpoint;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a listener with peers that are plain sockets and TLS sockets of the Java library: wrong and hostile ones. */
@Timeout(60)
final class ForeignTlsPeerTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);
    private static final byte[] REQUEST = ("MPA ID Req Frame" + "\0\1\0\0").getBytes(US_ASCII);
    private static final byte[] CLIENT_HELLO_BEGIN = {0x16, 3, 1, 0, (byte) 200, 1};
    private static final String ALPN = TlsCredentials.ALPN;

    private final Queue<String> ends = new ConcurrentLinkedQueue<>();
    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));

    @AfterEach
    void close() {
        bed.close();
    }

    private static Socket open(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static SSLSocket secure(Socket below, @Nullable Leaf own, String protocol, String... applications)
            throws GeneralSecurityException, IOException {
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        KeyStore store = emptyStore();
        char[] password = {'x'};
        if (own != null) {
            store.setKeyEntry("own", own.key(), password, new Certificate[] {own.certificate()});
        }
        keys.init(store, password);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        KeyStore anchors = emptyStore();
        anchors.setCertificateEntry("ca", AUTHORITY.certificate());
        trust.init(anchors);
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(below, "peer", 1, false);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(new String[] {protocol});
        parameters.setApplicationProtocols(applications);
        socket.setSSLParameters(parameters);
        return socket;
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static SSLSocket secure(Socket below) throws GeneralSecurityException, IOException {
        return secure(below, AUTHORITY.leaf("cart"), "TLSv1.3", ALPN);
    }

    /** Waits for the end of a connection. Returns the failure that the listener reports. */
    private String refusedAfter(Socket socket, byte... octets) throws Exception {
        socket.getOutputStream().write(octets);
        try {
            socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            // The listener may reset the connection.
        }
        return bed.listenerFailure();
    }

    private String handshakeFails(SSLSocket socket) throws Exception {
        assertThatThrownBy(() -> {
                    socket.startHandshake();
                    socket.getInputStream().readAllBytes();
                })
                .isInstanceOf(IOException.class);
        return bed.listenerFailure();
    }

    @Test
    void aPeerWithoutACertificateIsRefused() throws Exception {
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), null, "TLSv1.3", ALPN)) {
            assertThat(handshakeFails(socket))
                    .contains("the peer sent no certificate; configure the identity of the peer");
        }
    }

    @Test
    void aCertificateWithoutASpiffeIdIsRefused() throws Exception {
        Leaf nameless = AUTHORITY.leaf(List.of(), Instant.now().minusSeconds(60), TestAuthority.hours(1));
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), nameless, "TLSv1.3", ALPN)) {
            assertThat(handshakeFails(socket)).contains("(CN=leaf) has no SPIFFE ID; it needs exactly one URI");
        }
    }

    @Test
    void aCertificateOf100KilobytesIsRefused() throws Exception {
        List<String> uris = new ArrayList<>(IntStream.range(0, 2000)
                .mapToObj(number -> AUTHORITY.id("a-long-name-of-a-service-account-" + number))
                .toList());
        Leaf large = AUTHORITY.leaf(uris, Instant.now().minusSeconds(60), TestAuthority.hours(1));
        assertThat(large.certificate().getEncoded().length).isGreaterThan(100_000);
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), large, "TLSv1.3", ALPN)) {
            assertThat(handshakeFails(socket)).containsPattern("larger than permitted|certificates may be too long");
        }
    }

    @Test
    void anOlderTlsIsRefused() throws Exception {
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), AUTHORITY.leaf("cart"), "TLSv1.2", ALPN)) {
            assertThat(handshakeFails(socket)).contains("the peer does not speak TLS 1.3; update the peer");
        }
    }

    @Test
    void anotherProtocolInTlsIsRefused() throws Exception {
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), AUTHORITY.leaf("cart"), "TLSv1.3", "h2")) {
            assertThat(handshakeFails(socket))
                    .contains("the peer speaks TLS for another protocol than sidewarp-mpa/1;"
                            + " check that it is a Sidewarp peer");
        }
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), AUTHORITY.leaf("cart"), "TLSv1.3")) {
            socket.startHandshake();
            assertThat(bed.listenerFailure()).contains("without naming the protocol sidewarp-mpa/1");
        }
        assertThat(bed.requests).isEmpty();
    }

    @Test
    void garbageAfterTheFirstByteOfTlsIsRefused() throws Exception {
        try (Socket socket = open(bed.listen(REQUIRED))) {
            assertThat(refusedAfter(socket, (byte) 0x16, (byte) 'M', (byte) 'P', (byte) 'A', (byte) 0, (byte) 0))
                    .contains("no TLS with");
        }
        try (Socket socket = open(bed.listen(REQUIRED))) {
            byte[] record = ByteBuffer.allocate(105)
                    .put(new byte[] {0x16, 3, 1, 0, 100})
                    .array();
            assertThat(refusedAfter(socket, record)).contains("no TLS with");
        }
    }

    @Test
    void aHandshakeThatIsNotCompleteInTimeIsEnded() throws Exception {
        ListenAttributes impatient = new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofMillis(300))
                .withSecurity(REQUIRED);
        try (Socket socket = open(bed.listen(impatient))) {
            assertThat(refusedAfter(socket, CLIENT_HELLO_BEGIN))
                    .contains("the TLS handshake with")
                    .contains("was not complete in time");
        }
    }

    @Test
    void aFloodOfHalfOpenHandshakesKeepsNobodyOut() throws Exception {
        int places = 4;
        InetSocketAddress listener =
                bed.listen(new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, places, Duration.ofSeconds(30))
                        .withSecurity(REQUIRED));
        List<Socket> flood = new ArrayList<>();
        try {
            for (int i = 0; i < 10 * places; i++) {
                Socket socket = open(listener);
                socket.getOutputStream().write(CLIENT_HELLO_BEGIN);
                flood.add(socket);
            }
            // All but the last few were closed to make room.
            for (Socket socket : flood.subList(0, 9 * places)) {
                assertThat(isClosed(socket)).isTrue();
            }
            Endpoint client = new Endpoint(bed.clientDevice, 64);
            Endpoint server = new Endpoint(bed.serverDevice, 64);
            bed.connect(client, server, listener, TlsBed.asking(REQUIRED));
        } finally {
            for (Socket socket : flood) {
                socket.close();
            }
        }
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    @Test
    void aPlainRequestToAListenerThatNeedsTlsIsRejectedByMpa() throws Exception {
        try (Socket socket = open(bed.listen(REQUIRED))) {
            socket.getOutputStream().write(REQUEST);
            byte[] reply = new DataInputStream(socket.getInputStream()).readNBytes(20);
            assertThat(new String(reply, 0, 16, US_ASCII)).isEqualTo("MPA ID Rep Frame");
            assertThat(reply[16] & 0x20).as("R flag").isNotZero();
            assertThat(bed.listenerFailure()).contains("connected without TLS, and this listener needs it");
        }
    }

    /** A peer that is accepted without CRCs, and its endpoint on the side of the listener. */
    private Endpoint accepted(SSLSocket socket) throws Exception {
        socket.startHandshake();
        socket.getOutputStream().write(REQUEST);
        ConnectionRequest request = bed.requests.poll(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(request).as(bed.failures::toString).isNotNull();
        assertThat(request.tls().orElseThrow().peer().id()).hasToString(AUTHORITY.id("cart"));
        Endpoint server = new Endpoint(bed.serverDevice, 1 << 20);
        server.fill(1);
        server.queuePair.setEventListener((queuePair, state, error, message) -> ends.add(state + ": " + message));
        request.accept(
                        server.queuePair,
                        ConnectionParameters.defaults().withMpa(policy -> policy.withCrc(CrcPolicy.REFUSED)))
                .get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
        byte[] reply = new DataInputStream(socket.getInputStream()).readNBytes(20);
        assertThat(reply[16] & 0x20).as("R flag").isZero();
        return server;
    }

    @Test
    void aStreamThatEndsWithoutCloseNotifyIsAnError() throws Exception {
        Socket below = open(bed.listen(REQUIRED));
        SSLSocket socket = secure(below);
        Endpoint server = accepted(socket);

        below.shutdownOutput();

        server.awaitState(QueuePairState.CLOSED);
        assertThat(ends).anyMatch(end -> end.startsWith("CLOSED") && end.contains("without the end of its TLS stream"));
        assertThat(isClosed(below)).isTrue();
    }

    @Test
    void readsAreAnsweredAfterThePeersCloseNotify() throws Exception {
        int length = 300_000;
        Socket below = open(bed.listen(REQUIRED));
        SSLSocket socket = secure(below);
        Endpoint server = accepted(socket);

        socket.getOutputStream().write(readRequest(server.region.stag(), length));
        socket.shutdownOutput();

        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] read = new byte[length];
        int got = 0;
        while (got < length) {
            int ulpdu = in.readUnsignedShort();
            byte[] fpdu = in.readNBytes(ulpdu + (-(Short.BYTES + ulpdu) & 3) + Integer.BYTES);
            // A tagged segment: 14 bytes of header, then payload.
            System.arraycopy(fpdu, 14, read, got, ulpdu - 14);
            got += ulpdu - 14;
        }
        assertThat(read).isEqualTo(server.octets(0, length));
        assertThat(in.read()).as("close_notify of the listener").isEqualTo(-1);
        server.awaitState(QueuePairState.CLOSED);
    }

    /** Returns an FPDU with an RDMA Read Request for the beginning of a region. Its CRC is not used. */
    private static byte[] readRequest(int stag, int length) {
        int ulpdu = 18 + 28;
        ByteBuffer out = ByteBuffer.allocate(Short.BYTES + ulpdu + Integer.BYTES);
        out.putShort((short) ulpdu);
        out.put((byte) 0x41).put((byte) 0x41).putInt(0).putInt(1).putInt(1).putInt(0);
        out.putInt(77).putLong(0).putInt(length).putInt(stag).putLong(0);
        return out.array();
    }

    @Test
    void tooMuchInputDuringATaskOfTheHandshakeEndsTheConnection() throws Exception {
        SSLEngine engine = AUTHORITY.credentials("cart").initiator(new InetSocketAddress("localhost", 1));
        engine.beginHandshake();
        ByteBuffer hello = ByteBuffer.allocate(1 << 18);
        engine.wrap(ByteBuffer.allocate(0), hello);
        hello.position(200_000).flip();
        try (Socket socket = open(bed.listen(REQUIRED))) {
            assertThat(refusedAfter(socket, Arrays.copyOf(hello.array(), hello.limit())))
                    .contains("bytes before the handshake was complete");
            assertThat(isClosed(socket)).isTrue();
        }
    }

    @Test
    void aLongNameInACertificateMakesNoLongMessage() throws Exception {
        Leaf longName =
                AUTHORITY.leaf("x".repeat(20_000), List.of(), Instant.now().minusSeconds(60));
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), longName, "TLSv1.3", ALPN)) {
            assertThat(handshakeFails(socket))
                    .contains("has no SPIFFE ID")
                    .satisfies(text -> assertThat(text.length()).isLessThan(1000));
        }
        longName = new TestAuthority("example.org", "y".repeat(20_000)).leaf("cart");
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)), longName, "TLSv1.3", ALPN)) {
            assertThat(handshakeFails(socket))
                    .contains("is not trusted")
                    .satisfies(text -> assertThat(text.length()).isLessThan(1000));
        }
    }

    /** The Java library quotes a wrong server name of the peer, which nobody has authenticated. */
    @Test
    void aWrongServerNameWritesNoLineOfTheLog() throws Exception {
        byte[] name = ("a\nevent=forged " + "x".repeat(10_000)).getBytes(US_ASCII);
        try (SSLSocket socket = secure(open(bed.listen(REQUIRED)))) {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setServerNames(List.of(new SNIServerName(0, name) {}));
            socket.setSSLParameters(parameters);
            assertThat(handshakeFails(socket))
                    .contains("event=forged")
                    .doesNotContain("\n")
                    .satisfies(text -> assertThat(text.length()).isLessThan(1000));
        }
    }

    /** Each KeyUpdate costs a derivation of keys, and its answer waits in memory. */
    @Test
    void aFloodOfKeyUpdatesEndsTheConnection() throws Exception {
        SSLSocket socket = secure(open(bed.listen(REQUIRED)));
        accepted(socket);
        try {
            for (int i = 0; i < 2000; i++) {
                socket.startHandshake();
            }
            socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            // The listener may reset the connection.
        }
        await().untilAsserted(
                        () -> assertThat(ends).anyMatch(end -> end.contains("1024 TLS records without data in a row")));
    }
}
