// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TestAuthority.Leaf;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests an initiator with listeners that speak TLS, but not as agreed. The attempt fails with the reason, also if the
 * initiator only prefers TLS.
 */
@Timeout(60)
final class ForeignTlsListenerTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), null);

    @AfterEach
    void close() {
        bed.close();
    }

    /** A listener of the JDK that takes any number of connections, each until its end. */
    private static SSLServerSocket listen(Leaf own, String protocol, String... applications) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        char[] password = {'x'};
        store.setKeyEntry("own", own.key(), password, new Certificate[] {own.certificate()});
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        SSLServerSocket listener = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 16, InetAddress.getLoopbackAddress());
        SSLParameters parameters = listener.getSSLParameters();
        parameters.setProtocols(new String[] {protocol});
        parameters.setApplicationProtocols(applications);
        listener.setSSLParameters(parameters);
        Thread.ofPlatform().daemon().start(() -> serve(listener));
        return listener;
    }

    private static void serve(SSLServerSocket listener) {
        while (!listener.isClosed()) {
            try (SSLSocket socket = (SSLSocket) listener.accept()) {
                socket.setSoTimeout(10_000);
                socket.startHandshake();
                socket.getInputStream().readAllBytes();
            } catch (IOException e) {
                // The initiator refuses this listener, or the test is over.
            }
        }
    }

    private void assertRefused(SSLServerSocket listener, String reason) throws Exception {
        try (listener) {
            InetSocketAddress address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
            for (TlsUse security : List.of(TlsUse.REQUIRED, TlsUse.PREFERRED)) {
                assertThat(bed.failure(address, TlsBed.asking(SecurityPolicy.of(security))))
                        .as("message with %s", security)
                        .contains(reason);
            }
            assertThat(bed.client().plainPeers().contains(address)).isFalse();
        }
    }

    @Test
    void anOlderTlsIsRefused() throws Exception {
        assertRefused(
                listen(AUTHORITY.leaf("db"), "TLSv1.2", TlsCredentials.ALPN),
                "the peer does not speak TLS 1.3; update the peer");
    }

    @Test
    void anotherProtocolInTlsIsRefused() throws Exception {
        assertRefused(
                listen(AUTHORITY.leaf("db"), "TLSv1.3", "h2"),
                "the peer speaks TLS for another protocol than sidewarp-mpa/1; check that a Sidewarp listener has this"
                        + " port");
        assertRefused(
                listen(AUTHORITY.leaf("db"), "TLSv1.3"),
                "the peer speaks TLS without naming the protocol sidewarp-mpa/1");
    }

    @Test
    void aCertificateOf100KilobytesIsRefused() throws Exception {
        List<String> uris = IntStream.range(0, 2000)
                .mapToObj(number -> AUTHORITY.id("a-long-name-of-a-service-account-" + number))
                .toList();
        Leaf large = AUTHORITY.leaf(uris, Instant.now().minusSeconds(60), TestAuthority.hours(1));
        assertRefused(listen(large, "TLSv1.3", TlsCredentials.ALPN), "certificate");
    }
}
