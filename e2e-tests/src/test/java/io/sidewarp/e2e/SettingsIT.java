// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Settings that decide who may use a sidecar, as a packaged sidecar obeys them. */
@ExtendWith(Logs.class)
class SettingsIT {

    @Test
    void theSocketIsForItsUserAndGroupOnly() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.start("mode")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(sidecar.socket())))
                    .isEqualTo("rw-rw----");
        }
    }

    @Test
    void anApiOnAnAddressThatOthersReachIsRefusedAtStart() {
        try (SidecarProcess sidecar = SidecarProcess.with("exposed")
                .set("sidewarp.api.tcp.port", "0")
                .set("sidewarp.api.tcp.host", "0.0.0.0")
                .launch()) {
            assertThat(sidecar.process().awaitExit()).isNotZero();
            assertThat(sidecar.process().text()).contains("sidewarp.api.tcp.host", "0.0.0.0", "loopback");
        }
    }

    @Test
    void severalWrongSettingsAreNamedTogether() {
        try (SidecarProcess sidecar = SidecarProcess.with("wrong")
                .set("sidewarp.limits.regions", "0")
                .set("sidewarp.api.socket-mode", "rw")
                .launch()) {
            assertThat(sidecar.process().awaitExit()).isNotZero();
            assertThat(sidecar.process().text()).contains("sidewarp.limits.regions", "sidewarp.api.socket-mode");
        }
    }

    @Test
    void theApiIsOnLoopbackTcpWhenAskedFor() {
        int port = Ports.free();
        try (SidecarProcess sidecar = SidecarProcess.with("tcp")
                        .set("sidewarp.api.tcp.port", Integer.toString(port))
                        .start();
                SidewarpClient client =
                        SidewarpClient.connect(sidecar.clientOptions().withTarget("127.0.0.1:" + port))) {
            client.awaitReady(Patience.LIMIT);
            assertThat(client.device().getSharedVolume())
                    .isEqualTo(sidecar.volume().toString());
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
    void aRegionCannotLeaveTheSharedVolume() throws Exception {
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
