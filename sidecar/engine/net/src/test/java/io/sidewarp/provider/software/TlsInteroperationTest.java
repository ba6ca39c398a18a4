// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TestAuthority.Leaf;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests TLS with other implementations where they are installed: OpenSSL, and the ssl module of Python. */
@Timeout(60)
final class TlsInteroperationTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);
    private static final byte[] REQUEST = ("MPA ID Req Frame" + "\0\1\0\0").getBytes(US_ASCII);
    private static final byte[] REPLY = ("MPA ID Rep Frame" + "\0\1\0\0").getBytes(US_ASCII);
    private static final int LENGTH = 100_000;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
    private final List<Process> processes = new ArrayList<>();

    @TempDir
    private Path directory;

    private Path ca;
    private Path certificate;
    private Path key;

    @BeforeEach
    void writeFiles() throws Exception {
        Leaf own = AUTHORITY.leaf("foreign");
        ca = pem("CERTIFICATE", AUTHORITY.certificate().getEncoded());
        certificate = pem("CERTIFICATE", own.certificate().getEncoded());
        key = pem("PRIVATE KEY", own.key().getEncoded());
    }

    private Path pem(String type, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return Files.writeString(
                Files.createTempFile(directory, "tls", ".pem"),
                "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
    }

    @AfterEach
    void close() {
        processes.forEach(Process::destroyForcibly);
        bed.close();
    }

    private Process start(String... command) throws IOException {
        assumeTrue(isInstalled(command[0]), () -> command[0] + " is not installed");
        Process process = new ProcessBuilder(command)
                .redirectError(directory.resolve("errors").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
    }

    private String errors() {
        try {
            return Files.readString(directory.resolve("errors"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Reads from a program until its output contains a text. */
    private String readUntil(InputStream output, String wanted) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf(wanted) < 0) {
            int octet = output.read();
            assertThat(octet)
                    .as(() -> "the program ended after " + text + errors())
                    .isNotNegative();
            text.append((char) octet);
        }
        return text.toString();
    }

    private ConnectionRequest nextRequest() throws InterruptedException {
        ConnectionRequest request = bed.requests.poll(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(request).as(() -> bed.failures + errors()).isNotNull();
        assertThat(request.tls().orElseThrow().peer().id()).hasToString(AUTHORITY.id("foreign"));
        return request;
    }

    private Path pythonPeer() throws IOException {
        try (InputStream script = TlsInteroperationTest.class.getResourceAsStream("mpa_tls_peer.py")) {
            assertThat(script).isNotNull();
            Path copy = directory.resolve("mpa_tls_peer.py");
            Files.write(copy, script.readAllBytes());
            return copy;
        }
    }

    @Test
    void pythonConnectsAndWritesAndReads() throws Exception {
        Endpoint server = new Endpoint(bed.serverDevice, LENGTH);
        server.region.segment().fill((byte) 'x');
        InetSocketAddress listener = bed.listen(REQUIRED);
        Process python = start(
                "python3",
                pythonPeer().toString(),
                "connect",
                ca.toString(),
                certificate.toString(),
                key.toString(),
                String.valueOf(listener.getPort()),
                Integer.toUnsignedString(server.region.stag()),
                String.valueOf(LENGTH));

        nextRequest()
                .accept(server.queuePair, ConnectionParameters.defaults())
                .get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);

        assertThat(readUntil(python.getInputStream(), "\n"))
                .isEqualTo("hello from Python" + "x".repeat(LENGTH - 17) + "\n");
        server.awaitState(QueuePairState.CLOSED);
        assertThat(python.waitFor(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(python.exitValue()).as(this::errors).isZero();
    }

    @Test
    void pythonListensAndReceives() throws Exception {
        Process python = start(
                "python3", pythonPeer().toString(), "listen", ca.toString(), certificate.toString(), key.toString());
        int port = Integer.parseInt(readUntil(python.getInputStream(), "\n").strip());
        Endpoint client = new Endpoint(bed.clientDevice, 64);
        client.region.segment().asByteBuffer().put("hello from Java".getBytes(US_ASCII));

        ConnectionAttributes agreed = client.queuePair
                .connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        TlsBed.asking(REQUIRED).withMpa(policy -> policy.withDepths(DepthNegotiation.NONE)))
                .get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
        client.postSend(new Wr().reset(1, WrOpcode.SEND).addSge(client.region, 0, 15));
        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(readUntil(python.getInputStream(), "\n")).isEqualTo("hello from Java\n");
        client.disconnect();

        assertThat(agreed.tls().peer().id()).hasToString(AUTHORITY.id("foreign"));
        assertThat(python.waitFor(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(python.exitValue()).as(this::errors).isZero();
    }

    @Test
    void opensslConnectsAndGetsAnMpaReply() throws Exception {
        InetSocketAddress listener = bed.listen(REQUIRED);
        Process openssl = start(
                "openssl",
                "s_client",
                "-quiet",
                "-verify_return_error",
                "-tls1_3",
                "-alpn",
                TlsCredentials.ALPN,
                "-connect",
                "127.0.0.1:" + listener.getPort(),
                "-CAfile",
                ca.toString(),
                "-cert",
                certificate.toString(),
                "-key",
                key.toString());
        openssl.getOutputStream().write(REQUEST);
        openssl.getOutputStream().flush();

        ConnectionRequest request = nextRequest();
        request.accept(new Endpoint(bed.serverDevice, 64).queuePair, ConnectionParameters.defaults());

        assertThat(readUntil(openssl.getInputStream(), "MPA ID Rep Frame")).endsWith("MPA ID Rep Frame");
    }

    @Test
    void opensslListensAndSendsAnMpaReply() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Process openssl = start(
                "openssl",
                "s_server",
                "-tls1_3",
                "-alpn",
                TlsCredentials.ALPN,
                "-accept",
                "127.0.0.1:" + port,
                "-CAfile",
                ca.toString(),
                "-cert",
                certificate.toString(),
                "-key",
                key.toString(),
                "-Verify",
                "1");
        readUntil(openssl.getInputStream(), "ACCEPT");
        Endpoint client = new Endpoint(bed.clientDevice, 64);

        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                TlsBed.asking(REQUIRED).withMpa(policy -> policy.withDepths(DepthNegotiation.NONE)));
        assertThat(readUntil(openssl.getInputStream(), new String(REQUEST, 0, 16, ISO_8859_1)))
                .isNotEmpty();
        openssl.getOutputStream().write(REPLY);
        openssl.getOutputStream().flush();

        ConnectionAttributes agreed = connected.get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(agreed.tls().peer().id()).hasToString(AUTHORITY.id("foreign"));
    }
}
