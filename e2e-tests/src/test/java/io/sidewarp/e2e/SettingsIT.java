// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests settings of a packaged sidecar: access, logs and network transport. */
@ExtendWith(Logs.class)
class SettingsIT {

    private static final int OCTETS = 3 << 20;
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void onlyUserAndGroupHaveAccessToTheSocket() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.start("mode")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(sidecar.socket())))
                    .isEqualTo("rw-rw----");
        }
    }

    @Test
    void apiListensOnLoopbackTcpWhenConfigured() {
        int port = Ports.free();
        try (SidecarProcess sidecar = SidecarProcess.with("tcp")
                        .set("sidewarp.api.tcp.port", Integer.toString(port))
                        .start();
                SidewarpClient client =
                        SidewarpClient.connect(sidecar.clientOptions().withTarget("127.0.0.1:" + port))) {
            client.awaitReady(Patience.LIMIT);
            assertThat(client.device().sharedVolume())
                    .isEqualTo(sidecar.volume().toString());
        }
    }

    @Test
    void logsAreJsonWhenConfigured() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.with("json")
                .set("quarkus.log.console.json.enabled", "true")
                .start()) {
            assertThat(sidecar.stop()).isZero();
            List<String> messages = new ArrayList<>();
            for (String line : sidecar.process().output()) {
                JsonNode entry = JSON.readTree(line);
                assertThat(entry.fieldNames()).toIterable().contains("timestamp", "level", "loggerName", "message");
                messages.add(entry.get("message").asText());
            }
            assertThat(messages)
                    .anyMatch(message -> message.startsWith("event=started "))
                    .contains("event=stopped");
        }
    }

    @Test
    void sidecarMovesDataOverNioWithoutNativeTransport() {
        try (SidecarProcess sidecar = SidecarProcess.with("nio")
                        .jvmFlags(List.of("-Dio.netty.transport.noNative=true"))
                        .start();
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("nio")) {
            sidecar.process().awaitLine(line -> line.contains("event=started") && line.contains("epoll=false"));
            SharedRegion source = session.createSharedRegion("source", OCTETS);
            SharedRegion target = session.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
            SharedRegion copy = session.createSharedRegion("copy", OCTETS, Access.LOCAL_WRITE);
            Pattern.fill(source.segment(), 1);
            Link link = Link.connect(session, session);

            link.initiator().write(source.slice(), target.address());
            link.initiator().read(copy.slice(), target.address());

            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(sidecar.stop()).isZero();
        }
    }

    @Test
    void connectionsWithoutCrcNeedTheAdministratorsPermission() {
        try (SidecarProcess sidecar = SidecarProcess.start("crc");
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("crc")) {
            assertThatThrownBy(() -> session.connect(
                            "127.0.0.1",
                            Ports.free(),
                            ConnectionOptions.builder().crc(false).build()))
                    .isInstanceOfSatisfying(
                            SidewarpException.class,
                            failure -> assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED))
                    .hasMessageContaining("sidewarp.connection.allow-crc-off");
        }
    }

    @Test
    void sidecarRejectsRegionsOutsideTheSharedVolume() throws Exception {
        Path outside = Directories.temporary("outside");
        Files.write(outside.resolve("secret"), new byte[8192]);
        try (SidecarProcess sidecar = SidecarProcess.start("volume");
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("volume")) {
            Files.createSymbolicLink(sidecar.volume().resolve("link"), outside.resolve("secret"));
            Files.createSymbolicLink(sidecar.volume().resolve("directory"), outside);
            for (String path : new String[] {
                "link",
                "directory/secret",
                "../" + outside.getFileName() + "/secret",
                outside.resolve("secret").toString()
            }) {
                assertThatThrownBy(() -> session.openSharedRegion(path, 0, 0))
                        .as(path)
                        .isInstanceOf(SidewarpException.class);
            }
            Files.delete(sidecar.volume().resolve("link"));
            Files.delete(sidecar.volume().resolve("directory"));
        } finally {
            Directories.delete(outside);
        }
    }
}
