// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TlsKeyLog;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the key log: its lines, and that tshark decodes MPA, DDP and RDMAP inside TLS with it. */
@Timeout(120)
final class TlsKeyLogTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);
    private static final int LENGTH = 40_000;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));

    @TempDir
    private Path directory;

    @AfterEach
    void close() {
        bed.close();
    }

    /** Connects, moves data both ways with several keys, and disconnects. */
    private void transfer(InetSocketAddress listener) throws Exception {
        bed.client().loops().setRekeyRecords(5);
        Endpoint client = new Endpoint(bed.clientDevice, LENGTH);
        Endpoint server = new Endpoint(bed.serverDevice, LENGTH);
        bed.connect(client, server, listener, TlsBed.asking(REQUIRED));
        Wr request = new Wr();
        for (WrOpcode opcode : List.of(WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ, WrOpcode.RDMA_WRITE)) {
            client.postSend(
                    request.reset(1, opcode).addSge(client.region, 0, LENGTH).remote(server.region.stag(), 0));
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
        client.disconnect();
    }

    @Test
    void bothSidesWriteTheSameSecretsOfEachConnection() throws Exception {
        Path file = directory.resolve("keys.log");
        InetSocketAddress listener = bed.listen(REQUIRED);
        try (TlsKeyLog log = TlsKeyLog.enable(file)) {
            transfer(listener);
            transfer(listener);
        }
        transfer(listener);

        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(16);
        // Each line comes from both sides. The second connection uses a ticket of the first.
        assertThat(lines.stream().distinct())
                .hasSize(8)
                .allMatch(line -> line.matches("[A-Z_0]+ [0-9a-f]{64} [0-9a-f]{64}"));
        assertThat(lines.stream()
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .distinct())
                .containsExactlyInAnyOrder(
                        "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
                        "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                        "CLIENT_TRAFFIC_SECRET_0",
                        "SERVER_TRAFFIC_SECRET_0");
        assertThat(Files.getPosixFilePermissions(file))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    }

    @Test
    void aFileThatOthersCouldReadIsForItsOwnerOnly() throws Exception {
        Path file = Files.writeString(directory.resolve("keys.log"), "# before\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        TlsKeyLog.enable(file).close();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(file).hasContent("# before");
    }

    @Test
    void aFileThatCannotBeWrittenIsNamed() {
        Path file = directory.resolve("missing").resolve("keys.log");
        assertThatThrownBy(() -> TlsKeyLog.enable(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
    }

    @Test
    void tsharkDecodesMpaInsideTls() throws Exception {
        for (String program : List.of("tshark", "text2pcap", "awk")) {
            assumeTrue(isInstalled(program), () -> program + " is not installed");
        }
        Path keys = directory.resolve("keys.log");
        Path hexDump = directory.resolve("records.txt");
        try (TlsKeyLog log = TlsKeyLog.enable(keys);
                Recorder recorder = new Recorder(bed.listen(REQUIRED))) {
            transfer(recorder.address());
            recorder.await();
            Files.write(hexDump, recorder.lines());
        }
        Path capture = directory.resolve("capture.pcapng");
        Path plain = directory.resolve("plain.pcapng");
        run(
                "text2pcap",
                "-q",
                "-D",
                "-4",
                "10.0.0.2,10.0.0.1",
                "-T",
                "7174,40000",
                hexDump.toString(),
                capture.toString());
        run(root().resolve("tools/without-tls.sh").toString(), capture.toString(), keys.toString(), plain.toString());

        String decoded = run("tshark", "-r", plain.toString());
        assertThat(decoded)
                .contains(
                        "MPA Request Frame",
                        "MPA Reply Frame",
                        "Write [last",
                        "Read Request [last",
                        "Read Response [last")
                .doesNotContain("Malformed");
        assertThat(run("tshark", "-r", capture.toString(), "-o", "tls.keylog_file:" + keys))
                .contains("Key Update")
                .contains("Close Notify");
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
    }

    private static Path root() {
        Path place = Path.of("").toAbsolutePath();
        while (!Files.exists(place.resolve("mvnw"))) {
            place = place.getParent();
        }
        return place;
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), US_ASCII);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    /** TCP proxy for one connection, which records all bytes as a hex dump of text2pcap. */
    private static final class Recorder implements AutoCloseable {

        /** Most bytes of a recorded packet. */
        private static final int PACKET = 32_000;

        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final StringBuilder dump = new StringBuilder();
        private final Thread thread;

        Recorder(InetSocketAddress target) throws IOException {
            thread = Thread.ofPlatform().daemon().start(() -> serve(target));
        }

        InetSocketAddress address() {
            return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        }

        private void serve(InetSocketAddress target) {
            try (Socket initiator = listener.accept();
                    Socket responder = new Socket(target.getAddress(), target.getPort())) {
                Thread back = Thread.ofPlatform().daemon().start(() -> copy(responder, initiator, "O"));
                copy(initiator, responder, "I");
                back.join();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private void copy(Socket from, Socket to, String direction) {
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] packet = new byte[PACKET];
                for (int length = in.read(packet); length >= 0; length = in.read(packet)) {
                    String hex = HexFormat.ofDelimiter(" ").formatHex(packet, 0, length);
                    synchronized (dump) {
                        dump.append(direction).append("\n000000 ").append(hex).append('\n');
                    }
                    out.write(packet, 0, length);
                }
                to.shutdownOutput();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        void await() throws InterruptedException {
            thread.join();
        }

        List<String> lines() {
            synchronized (dump) {
                return dump.toString().lines().toList();
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
