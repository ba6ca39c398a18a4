// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that a sidecar which cannot start prints the reason and a remedy in one line, and leaves nothing behind. */
@ExtendWith(Logs.class)
class StartIT {

    private static void assertRefused(SidecarProcess.Builder settings, String... words) throws IOException {
        try (SidecarProcess sidecar = settings.launch()) {
            assertThat(sidecar.process().awaitExit())
                    .as(sidecar.process().text())
                    .isEqualTo(ExitCodes.CONFIGURATION);
            assertThat(sidecar.process().output())
                    .singleElement()
                    .asString()
                    .startsWith("sidewarp: the sidecar does not start: ")
                    .contains(words);
            assertThat(sidecar.volumeFiles()).isEmpty();
            try (Stream<Path> files = Files.list(sidecar.socket().getParent())) {
                assertThat(files).isEmpty();
            }
        }
    }

    @Test
    void anApiOnAnAddressThatOthersReachIsRefused() throws IOException {
        assertRefused(
                SidecarProcess.with("exposed")
                        .set("sidewarp.api.tcp.port", "0")
                        .set("sidewarp.advanced.api.tcp.host", "0.0.0.0"),
                "sidewarp.advanced.api.tcp.host",
                "0.0.0.0",
                "loopback");
    }

    @Test
    void theCommandSaysNoMoreThanThat() {
        Path socket = Directories.temporary("command").resolve("api.sock");
        List<String> command = List.of(
                "./sidewarp",
                "sidecar",
                "-Dsidewarp.api.socket=" + socket,
                "-Dsidewarp.shared-volume=",
                "-Dsidewarp.connection.congestion-control=carrier-pigeon");
        try (OwnedProcess sidecar = OwnedProcess.start("command", command, Programs.unbuilt(), Programs.root())) {
            assertThat(sidecar.awaitExit()).as(sidecar.text()).isEqualTo(ExitCodes.CONFIGURATION);
            assertThat(sidecar.output())
                    .singleElement()
                    .asString()
                    .startsWith("sidewarp: the sidecar does not start: ");
        } finally {
            Directories.delete(socket.getParent());
        }
    }

    @Test
    void severalWrongSettingsAreNamedTogether() throws IOException {
        assertRefused(
                SidecarProcess.with("wrong").set("sidewarp.limits.regions", "0").set("sidewarp.api.socket-mode", "rw"),
                "sidewarp.limits.regions",
                "sidewarp.api.socket-mode");
    }

    @ParameterizedTest
    @CsvSource({"sidewarp.limits.regions, many", "sidewarp.drain-timeout, soon", "sidewarp.extensions, maybe"})
    void aValueOfAnotherKindIsNamedWithItsSetting(String setting, String value) throws IOException {
        assertRefused(SidecarProcess.with("kind").set(setting, value), setting, value);
    }

    @Test
    void aCongestionControlThatTheKernelDoesNotHaveIsRefused() throws IOException {
        assertRefused(
                SidecarProcess.with("congestion").set("sidewarp.connection.congestion-control", "carrier-pigeon"),
                "sidewarp.connection.congestion-control",
                "carrier-pigeon",
                "the kernel does not have it");
    }

    @ParameterizedTest
    @CsvSource({"sidewarp.api.allowed-uids, 0", "sidewarp.connection.congestion-control, reno"})
    void whatTakesNativeEpollIsRefusedWithTheReasonThatThereIsNone(String setting, String value) throws IOException {
        assertRefused(withoutPlaceForLibraries("place").set(setting, value), setting, "/proc", "1 MiB");
    }

    @Test
    void aSidecarWithoutNativeEpollSaysWhy() {
        try (SidecarProcess sidecar = withoutPlaceForLibraries("slow").start()) {
            assertThat(sidecar.process().awaitLine(line -> line.contains("event=no-native-epoll")))
                    .contains("level=WARN", "/proc", "1 MiB");
        }
    }

    /** Netty has its libraries unpacked to a directory in which nobody can make files. */
    private static SidecarProcess.Builder withoutPlaceForLibraries(String name) {
        return SidecarProcess.with(name).jvmFlags(List.of("-Djava.io.tmpdir=/proc"));
    }

    @Test
    void aSocketThatAnotherSidecarServesIsRefused() throws IOException {
        try (SidecarProcess first = SidecarProcess.start("first")) {
            assertRefused(
                    SidecarProcess.with("second")
                            .set("sidewarp.api.socket", first.socket().toString()),
                    first.socket().toString(),
                    "served by another process",
                    "sidewarp.api.socket");
            assertThat(first.process().isAlive()).isTrue();
            assertThat(first.socket()).exists();
        }
    }

    @Test
    void aFileInTheSocketsPlaceIsRefusedAndKept() throws IOException {
        Path directory = Directories.temporary("file");
        Path file = Files.writeString(directory.resolve("precious"), "content");
        try {
            assertRefused(
                    SidecarProcess.with("file").set("sidewarp.api.socket", file.toString()),
                    file.toString(),
                    "is no socket",
                    "remove it");
            assertThat(file).hasContent("content");
        } finally {
            Directories.delete(directory);
        }
    }

    @Test
    void aVolumeThatCannotBeMadeIsRefused() throws IOException {
        assertRefused(
                SidecarProcess.with("volume").set("sidewarp.shared-volume", "/proc/sidewarp"),
                "/proc/sidewarp",
                "mount a volume there",
                "sidewarp.shared-volume");
    }

    @Test
    void aFileInTheVolumesPlaceIsRefused() throws IOException {
        Path directory = Directories.temporary("volume");
        Path file = Files.createFile(directory.resolve("file"));
        try {
            assertRefused(
                    SidecarProcess.with("volume").set("sidewarp.shared-volume", file.toString()),
                    file + " is no directory",
                    "sidewarp.shared-volume");
        } finally {
            Directories.delete(directory);
        }
    }

    @Test
    void aReadOnlyVolumeIsRefused() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount one");
        Path volume = Directories.temporary("read-only");
        try {
            assertRefused(
                    SidecarProcess.with("read-only")
                            .prefix(List.of(
                                    "unshare",
                                    "--mount",
                                    "--propagation",
                                    "private",
                                    "sh",
                                    "-c",
                                    "mount -t tmpfs -o ro none \"$0\" && exec \"$@\"",
                                    volume.toString()))
                            .set("sidewarp.shared-volume", volume.toString()),
                    volume + " is read-only",
                    "sidewarp.shared-volume");
        } finally {
            Directories.delete(volume);
        }
    }

    @Test
    void aVolumeThatTheSidecarsUserMayNotOpenIsRefused() throws IOException {
        Path closed = Directories.temporary("closed");
        Files.setPosixFilePermissions(closed, Set.of());
        try {
            assertRefused(
                    SidecarProcess.with("closed")
                            .prefix(Tools.withoutPrivilegeOnFiles())
                            .set("sidewarp.shared-volume", closed.toString()),
                    closed.toString(),
                    "sidewarp.shared-volume",
                    "user");
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
            Directories.delete(closed);
        }
    }

    @Test
    void aManagementPortInUseIsRefused() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertRefused(
                    SidecarProcess.with("port").set("sidewarp.management.port", Integer.toString(taken.getLocalPort())),
                    Integer.toString(taken.getLocalPort()),
                    "sidewarp.management.port");
        }
    }

    @Test
    void anApiPortInUseIsRefused() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertRefused(
                    SidecarProcess.with("api-port")
                            .set("sidewarp.api.tcp.port", Integer.toString(taken.getLocalPort())),
                    Integer.toString(taken.getLocalPort()),
                    "sidewarp.api.tcp.port");
        }
    }

    @Test
    void aWrongSettingOfOpenTelemetryIsRefused() throws IOException {
        assertRefused(SidecarProcess.with("otel").set("otel.traces.exporter", "pigeon"), "OTEL_", "pigeon");
        assertRefused(
                SidecarProcess.with("otel-ratio")
                        .set("otel.exporter.otlp.endpoint", "http://127.0.0.1:1")
                        .set("otel.traces.sampler", "traceidratio")
                        .set("otel.traces.sampler.arg", "7"),
                "OTEL_",
                "ratio");
    }

    @Test
    void aCollectorWhoseNameIsNotKnownIsToldWithoutAStackTrace() {
        try (SidecarProcess sidecar = SidecarProcess.with("otel-name")
                .set("otel.exporter.otlp.endpoint", "http://collector.invalid:4317")
                .set("otel.metric.export.interval", "200")
                .start()) {
            sidecar.process()
                    .awaitLine(line -> line.contains("Failed to export") && line.contains("collector.invalid"));

            assertThat(sidecar.process().output()).noneMatch(line -> line.startsWith("\tat "));
        }
    }

    @Test
    void aVariableWithAnOldNameIsRefusedWithTheNewOne() throws IOException {
        assertRefused(
                SidecarProcess.with("renamed").prefix(List.of("env", "SIDEWARP_SCTP_RTO_MIN=50ms")),
                "SIDEWARP_SCTP_RTO_MIN is now SIDEWARP_ADVANCED_SCTP_RTO_MIN");
    }

    @Test
    void aVariableThatNoSettingKnowsIsToldOnce() {
        List<String> variables = List.of("env", "SIDEWARP_LIMITS_REGION=7", "SIDEWARP_VOLUME=/tmp");
        try (SidecarProcess sidecar =
                SidecarProcess.with("mistyped").prefix(variables).start()) {
            assertThat(sidecar.process().output())
                    .filteredOn(line -> line.contains("level=WARN"))
                    .singleElement()
                    .asString()
                    .contains("\"SIDEWARP_LIMITS_REGION (is it SIDEWARP_LIMITS_REGIONS?)\"");
        }
    }

    @Test
    void whatKubernetesTellsOfAServiceIsNoSetting() {
        // All that there is of a Service with this name.
        List<String> variables = List.of(
                "env",
                "SIDEWARP_API_TCP_SERVICE_HOST=10.96.0.7",
                "SIDEWARP_API_TCP_SERVICE_PORT=80",
                "SIDEWARP_API_TCP_PORT=tcp://10.96.0.7:80",
                "SIDEWARP_API_TCP_PORT_80_TCP=tcp://10.96.0.7:80",
                "SIDEWARP_API_TCP_PORT_80_TCP_PROTO=tcp",
                "SIDEWARP_API_TCP_PORT_80_TCP_PORT=80",
                "SIDEWARP_API_TCP_PORT_80_TCP_ADDR=10.96.0.7");
        try (SidecarProcess sidecar =
                SidecarProcess.with("service").prefix(variables).start()) {
            assertThat(sidecar.process().output()).noneMatch(line -> line.contains("level=WARN"));
        }
    }

    @Test
    void anEmptyVariableOfOpenTelemetryCountsAsNotSet() {
        List<String> variables = List.of("env", "OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_TRACES_SAMPLER=");
        try (SidecarProcess sidecar =
                SidecarProcess.with("otel-empty").prefix(variables).start()) {
            assertThat(sidecar.process().isAlive()).isTrue();
        }
    }
}
