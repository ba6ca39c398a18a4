// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests a client in another language at one sidecar, with a Java client at the other sidecar. */
@ExtendWith(Logs.class)
class NodeClientIT {

    private static final int OCTETS = 1 << 20;
    private static final Path SOURCES = Programs.root().resolve("e2e-tests/src/test/node");

    @Test
    void aNodeClientDrivesAWholeSessionOverTheUnixSocket() throws Exception {
        Tools.need("node", "nodejs");
        Tools.need("npm", "npm");
        Path node = install();
        try (SidecarProcess left = SidecarProcess.start("left");
                SidecarProcess right = SidecarProcess.start("right");
                SidewarpClient client = right.client();
                Session there = client.openSession("there");
                SharedRegion target =
                        there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
                ManagedRegion mail = there.registerManaged(1000, Access.LOCAL_WRITE);
                Peer peer = new Peer(there, target, mail);
                OwnedProcess program = OwnedProcess.start(
                        "client-node",
                        List.of(
                                "node",
                                "session.js",
                                Programs.root().resolve("proto/src/main/proto").toString(),
                                left.target(),
                                left.volume().toString(),
                                Link.LOOPBACK,
                                Integer.toString(peer.port())),
                        Map.of(),
                        node)) {
            String message = Patience.get(peer.message);

            assertThat(program.awaitExit()).as(program.text()).isZero();
            JsonNode seen = new ObjectMapper().readTree(program.output().getLast());
            assertThat(message).isEqualTo("hello from node");
            assertThat(seen.get("message").asText()).isEqualTo("hello from java");
            assertThat(seen.get("receiveId").asLong()).isEqualTo(4711);
            assertThat(seen.get("provider").asText()).isEqualTo("software");
            assertThat(seen.get("crc").asBoolean()).isTrue();
            assertThat(seen.get("credits").asInt()).isBetween(1, 32);
            assertThat(seen.get("completedInOrder").asBoolean()).isTrue();
            assertThat(seen.get("queueEnded").asBoolean()).isTrue();
            assertThat(seen.at("/flushed/opcode").asText()).isEqualTo("OPCODE_FLUSH");
            assertThat(seen.at("/flushed/status").asText()).isEqualTo("COMPLETION_STATUS_SUCCESS");
            assertThat(seen.get("sessionEnded").asBoolean()).isTrue();
            assertThat(seen.get("sent").asText())
                    .isEqualTo(seen.get("readBack").asText())
                    .isEqualTo(sha256(target));
            assertThat(seen.get("rejection").get("code").asText()).isEqualTo("ABORTED");
            assertThat(seen.get("rejection").get("detail").asBoolean()).isTrue();
            assertThat(seen.get("unknownRegion").get("code").asText()).isEqualTo("NOT_FOUND");
            assertThat(seen.get("unknownRegion").get("message").asText()).contains("987654321");
            Patience.await("the session's files are gone")
                    .untilAsserted(() -> assertThat(left.volumeFiles()).isEmpty());
        }
    }

    /** The Java side. It announces an address to write to, answers a message, and rejects a connection on request. */
    private static final class Peer implements AutoCloseable {

        private final CompletableFuture<String> message = new CompletableFuture<>();
        private final ManagedRegion mail;
        private final ConnectionOptions welcome;
        private final Session session;
        private final Listener listener;

        Peer(Session session, SharedRegion target, ManagedRegion mail) {
            this.mail = mail;
            this.session = session;
            welcome = ConnectionOptions.builder()
                    .privateData(target.address().encode())
                    .build();
            listener = session.listen(Link.LOOPBACK, 0, this::serve);
        }

        private void serve(IncomingConnection request) {
            if (new String(request.privateData(), StandardCharsets.UTF_8).equals("reject me")) {
                request.reject("no room".getBytes(StandardCharsets.UTF_8));
                return;
            }
            try (Inbox inbox = Inbox.of(session, welcome, mail.slice(0, 500))) {
                Connection connection = request.accept(inbox.connection());
                int length = (int) inbox.receive().length();
                message.complete(new String(mail.load(0, length), StandardCharsets.UTF_8));
                byte[] answer = "hello from java".getBytes(StandardCharsets.UTF_8);
                mail.store(500, answer);
                connection.send(mail.slice(500, answer.length));
            }
        }

        int port() {
            return listener.port();
        }

        @Override
        public void close() {
            listener.close();
        }
    }

    /** Puts the program and what it needs into a directory of this build. */
    private static Path install() throws Exception {
        Path directory = Programs.output().resolveSibling("node");
        Files.createDirectories(directory);
        for (String file : List.of("package.json", "package-lock.json", ".npmrc", "session.js")) {
            Files.copy(SOURCES.resolve(file), directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        OwnedProcess npm = OwnedProcess.start("npm", List.of("npm", "ci", "--ignore-scripts"), Map.of(), directory);
        assertThat(npm.awaitExit(Patience.LONG_LIMIT)).as(npm.text()).isZero();
        return directory;
    }

    private static String sha256(SharedRegion region) throws Exception {
        byte[] octets = region.segment().toArray(ValueLayout.JAVA_BYTE);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(octets));
    }
}
