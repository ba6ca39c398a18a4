// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.Endpoint;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests an initiator with listeners that know no TLS. A plain socket behaves like siw, an RNIC, or nobody. */
@Timeout(60)
final class PeerWithoutTlsTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final byte[] REPLY = ("MPA ID Rep Frame" + "\0\1\0\0").getBytes(US_ASCII);
    private static final int FRAME = 20;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), null);
    private ServerSocket peer;

    @BeforeEach
    void listen() throws IOException {
        peer = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        peer.setSoTimeout(20_000);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        bed.close();
    }

    private CompletableFuture<ConnectionAttributes> connect(TlsUse security, Duration timeout) {
        ConnectionParameters asking = TlsBed.asking(SecurityPolicy.of(security))
                .withMpa(policy -> policy.withDepths(DepthNegotiation.NONE))
                .withTimeout(timeout);
        return new Endpoint(bed.clientDevice, 64)
                .queuePair.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), peer.getLocalPort()), asking);
    }

    private static byte[] readFrame(Socket socket) throws IOException {
        socket.setSoTimeout(20_000);
        return new DataInputStream(socket.getInputStream()).readNBytes(FRAME);
    }

    private void acceptByMpa() throws IOException {
        Socket second = peer.accept();
        assertThat(new String(readFrame(second), 0, 16, US_ASCII)).isEqualTo("MPA ID Req Frame");
        second.getOutputStream().write(REPLY);
    }

    @Test
    void aPeerThatClosesGetsASecondConnectionWithoutTls() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connect(TlsUse.PREFERRED, Duration.ofSeconds(10));
        try (Socket first = peer.accept()) {
            assertThat(readFrame(first)[0]).isEqualTo((byte) 0x16);
        }
        acceptByMpa();

        assertThat(connected.get(20, TimeUnit.SECONDS).tls()).isNull();
    }

    @Test
    void aPeerThatAnswersByMpaGetsASecondConnectionWithoutTls() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connect(TlsUse.PREFERRED, Duration.ofSeconds(10));
        Socket first = peer.accept();
        readFrame(first);
        first.getOutputStream().write(REPLY);
        acceptByMpa();

        assertThat(connected.get(20, TimeUnit.SECONDS).tls()).isNull();
    }

    @Test
    void aSilentPeerGetsASecondConnectionAfterHalfOfTheTimeout() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connect(TlsUse.PREFERRED, Duration.ofSeconds(3));
        readFrame(peer.accept());
        acceptByMpa();

        assertThat(connected.get(20, TimeUnit.SECONDS).tls()).isNull();
    }

    @Test
    void aRequiredConnectionFailsWithTheRemedy() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connect(TlsUse.REQUIRED, Duration.ofSeconds(10));
        peer.accept().close();

        assertThat(connected)
                .failsWithin(20, TimeUnit.SECONDS)
                .withThrowableThat()
                .withMessageContaining("it may not speak TLS on this port")
                .withMessageContaining("enable TLS at the peer, or use `preferred` or `plain`");
        peer.setSoTimeout(200);
        assertThat(CompletableFuture.supplyAsync(this::isAlone))
                .succeedsWithin(20, TimeUnit.SECONDS)
                .isEqualTo(true);
    }

    /** Returns whether no further connection arrives. */
    private boolean isAlone() {
        try (Socket another = peer.accept()) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void aSilentPeerOfARequiredConnectionFailsInTime() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connect(TlsUse.REQUIRED, Duration.ofSeconds(1));
        Socket first = peer.accept();

        assertThat(connected)
                .failsWithin(20, TimeUnit.SECONDS)
                .withThrowableThat()
                .withMessageContaining("no answer");
        assertThat(first.isClosed()).isFalse();
    }

    /** The program behind an address may have got TLS since the address was remembered. */
    @Test
    void aRememberedPeerThatNeedsTlsNowGetsTls() throws Exception {
        bed.replaceServer(AUTHORITY.credentials("db"));
        InetSocketAddress listener = bed.listen(SecurityPolicy.of(TlsUse.REQUIRED));
        bed.client().plainPeers().add(listener);

        ConnectionAttributes agreed = bed.connect(
                new Endpoint(bed.clientDevice, 64),
                new Endpoint(bed.serverDevice, 64),
                listener,
                TlsBed.asking(SecurityPolicy.of(TlsUse.PREFERRED)));

        assertThat(agreed.tls()).isNotNull();
        assertThat(bed.client().plainPeers().contains(listener)).isFalse();
    }
}
