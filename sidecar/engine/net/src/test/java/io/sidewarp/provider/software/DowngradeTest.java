// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.Endpoint;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests an attacker between both sides, who wants a connection without TLS. */
@Timeout(60)
final class DowngradeTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final int TLS_HANDSHAKE = 0x16;
    /** Offset of the client's random number in its first record (RFC 8446 sections 4.1.2 and 5.1). */
    private static final int CLIENT_RANDOM = 11;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));

    @AfterEach
    void close() {
        bed.close();
    }

    /** Only `preferred` and `plain` on both sides give way, as the documentation says. */
    @ParameterizedTest
    @CsvSource({
        "PLAIN,     PLAIN,     plain",
        "PLAIN,     PREFERRED, plain",
        "PLAIN,     REQUIRED,  refused",
        "PREFERRED, PLAIN,     plain",
        "PREFERRED, PREFERRED, plain",
        "PREFERRED, REQUIRED,  refused",
        "REQUIRED,  PLAIN,     refused",
        "REQUIRED,  PREFERRED, refused",
        "REQUIRED,  REQUIRED,  refused",
    })
    void anAttackerThatHidesTlsReachesNoSideThatRequiresIt(TlsUse initiator, TlsUse listener, String outcome)
            throws Exception {
        InetSocketAddress target = bed.listen(SecurityPolicy.of(listener));
        try (Attacker attacker = new Attacker(target, true)) {
            if (outcome.equals("refused")) {
                assertThat(bed.failure(attacker.address(), TlsBed.asking(SecurityPolicy.of(initiator))))
                        .contains("TLS");
                assertThat(bed.requests).isEmpty();
            } else {
                ConnectionAttributes agreed = bed.connect(
                        new Endpoint(bed.clientDevice, 64),
                        new Endpoint(bed.serverDevice, 64),
                        attacker.address(),
                        TlsBed.asking(SecurityPolicy.of(initiator)));
                assertThat(agreed.tls()).isNull();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"PREFERRED, PREFERRED", "PREFERRED, REQUIRED", "REQUIRED, PREFERRED", "REQUIRED, REQUIRED"})
    void aChangedHandshakeFailsAndIsNotRepeatedWithoutTls(TlsUse initiator, TlsUse listener) throws Exception {
        InetSocketAddress target = bed.listen(SecurityPolicy.of(listener));
        try (Attacker attacker = new Attacker(target, false)) {
            assertThat(bed.failure(attacker.address(), TlsBed.asking(SecurityPolicy.of(initiator))))
                    .startsWith("no TLS with ");
            assertThat(bed.requests).isEmpty();
            assertThat(bed.client().plainPeers().contains(attacker.address())).isFalse();
            assertThat(attacker.connections).hasValue(1);
        }
    }

    /** Passes bytes on in both directions. Closes connections with TLS, or changes a byte of the first record. */
    private static final class Attacker implements AutoCloseable {

        final AtomicInteger connections = new AtomicInteger();
        private final InetSocketAddress target;
        private final boolean hidesTls;
        private final ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

        Attacker(InetSocketAddress target, boolean hidesTls) throws IOException {
            this.target = target;
            this.hidesTls = hidesTls;
            threads.submit(this::accept);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) server.getLocalSocketAddress();
        }

        private Void accept() throws IOException {
            while (true) {
                Socket near = server.accept();
                connections.incrementAndGet();
                threads.submit(() -> serve(near));
            }
        }

        private Void serve(Socket near) throws IOException {
            try (near;
                    Socket far = new Socket()) {
                byte[] first = near.getInputStream().readNBytes(CLIENT_RANDOM + 1);
                if (first[0] == TLS_HANDSHAKE) {
                    if (hidesTls) {
                        return null;
                    }
                    first[CLIENT_RANDOM] ^= 1;
                }
                far.connect(target);
                far.getOutputStream().write(first);
                threads.submit(() -> copy(far, near));
                copy(near, far);
            }
            return null;
        }

        private static Void copy(Socket from, Socket to) throws IOException {
            try (InputStream input = from.getInputStream()) {
                input.transferTo(to.getOutputStream());
            } finally {
                to.close();
            }
            return null;
        }

        @Override
        public void close() throws IOException, InterruptedException {
            server.close();
            threads.shutdownNow();
            assertThat(threads.awaitTermination(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
        }
    }
}
