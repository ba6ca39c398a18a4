// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code ./sidewarp demo FILE} with programs that are already packaged. */
@ExtendWith(Logs.class)
class DemoCommandIT {

    @TempDir
    private Path directory;

    private OwnedProcess demo(String... arguments) {
        return demoIn(directory, arguments);
    }

    private static OwnedProcess demoIn(Path base, String... arguments) {
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT", "./sidewarp", "demo"));
        command.addAll(List.of("--dir", base.toString()));
        command.addAll(List.of(arguments));
        return OwnedProcess.start("demo", command, Programs.unbuilt(), Programs.root());
    }

    @Test
    void aFileIsMovedThereAndBackAndTheAccountIsComplete() throws Exception {
        byte[] content = Pattern.bytes(1, 5_000_001);
        Path file = Files.write(directory.resolve("file"), content);
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));

        try (OwnedProcess demo = demo(file.toString(), "--window", "2M")) {
            assertThat(demo.awaitExit(Patience.LONG_LIMIT)).as(demo.text()).isZero();

            assertThat(demo.output().getFirst())
                    .isEqualTo(file + ", 4.8 MiB, through 2 MiB of shared memory at each end");
            assertThat(demo.text())
                    .containsSubsequence(
                            "sender    process ",
                            "receiver  process ",
                            "RDMA Write, sender to receiver",
                            "RDMA Read, back to the sender",
                            "SHA-256 " + digest,
                            "the same at the sender, in the receiver's memory, and after reading back",
                            "Send, there: \"",
                            "back: \"",
                            "LATENCY, 8 BYTES",
                            "ON THE WIRE",
                            "sender to receiver",
                            "receiver to sender",
                            "CRC32c on");
            assertThat(demo.output().getLast())
                    .matches(
                            "Flush \\(a Read of no bytes\\): answered after [\\d.]+ [mu]?s; all Writes and Sends before it"
                                    + " have been placed at the receiver");
        }
        assertOnlyRemains("file");
    }

    @Test
    void overSctpTheAccountSpeaksOfChunks() throws Exception {
        Path file = Files.write(directory.resolve("file"), Pattern.bytes(1, 1_000_001));

        try (OwnedProcess demo = demo(file.toString(), "--llp", "sctp")) {
            assertThat(demo.awaitExit(Patience.LONG_LIMIT)).as(demo.text()).isZero();

            assertThat(demo.text())
                    .containsSubsequence(
                            "the same at the sender, in the receiver's memory, and after reading back",
                            "CHUNKS",
                            "SCTP 127.0.0.1:",
                            "in a data chunk on average");
        }
        assertOnlyRemains("file");
    }

    @Test
    void secureDemoShowsVerifiedIdentities() throws Exception {
        Path file = Files.write(directory.resolve("file"), Pattern.bytes(1, 1_000_001));

        try (OwnedProcess demo = demo(file.toString(), "--secure")) {
            assertThat(demo.awaitExit(Patience.LONG_LIMIT)).as(demo.text()).isZero();

            assertThat(demo.text())
                    .containsSubsequence(
                            "the same at the sender, in the receiver's memory, and after reading back",
                            "TLS 1.3; the certificate that each side verified",
                            "of the sender    spiffe://cluster.local/ns/demo/sa/sender",
                            "of the receiver  spiffe://cluster.local/ns/demo/sa/receiver");
        }
        assertOnlyRemains("file");
    }

    @Test
    void secureDemoNeedsTcp() throws IOException {
        try (OwnedProcess demo = demo("--secure", "--llp", "sctp")) {
            assertThat(demo.awaitExit()).isEqualTo(ExitCodes.USAGE);
            assertThat(demo.output()).containsExactly("sidewarp: --secure needs --llp tcp: there is no TLS on SCTP");
        }
    }

    @Test
    void theScriptMayBeCalledThroughALinkAndWithoutAHome() throws Exception {
        Path link = Files.createSymbolicLink(
                directory.resolve("link"), Programs.root().resolve("sidewarp"));
        List<String> command = List.of("env", "-u", "HOME", link.toString(), "demo", "--help");
        try (OwnedProcess demo = OwnedProcess.start("link", command, Programs.unbuilt(), directory)) {
            assertThat(demo.awaitExit()).as(demo.text()).isZero();
        }
    }

    @Test
    void theDirectoryMayBeRelative() throws Exception {
        try (OwnedProcess demo = demoIn(Programs.root().relativize(directory), "--size", "1M")) {
            assertThat(demo.awaitExit(Patience.LONG_LIMIT)).as(demo.text()).isZero();
        }
        assertOnlyRemains();
    }

    @Test
    void aMissingFileIsNamed() throws IOException {
        try (OwnedProcess demo = demo(directory.resolve("none").toString())) {
            assertThat(demo.awaitExit()).isEqualTo(ExitCodes.NO_INPUT);
            assertThat(demo.output()).containsExactly("sidewarp: there is no file " + directory.resolve("none"));
        }
        assertOnlyRemains();
    }

    @Test
    void anInterruptedDemoLeavesNothingBehind() throws IOException {
        try (OwnedProcess demo = demo("--size", "64G", "--window", "4M")) {
            Patience.await("both sides have their regions")
                    .until(() -> !demo.isAlive() || Stream.of("a", "b").allMatch(this::hasRegion));
            demo.interrupt();

            assertThat(demo.awaitExit()).as(demo.text()).isEqualTo(ExitCodes.INTERRUPTED);
            assertThat(demo.text()).doesNotContain("\tat ");
        }
        assertOnlyRemains();
    }

    private boolean hasRegion(String side) {
        try (Stream<Path> paths = Files.walk(directory)) {
            return paths.anyMatch(path -> path.getParent().endsWith(side + "/shared") && Files.isRegularFile(path));
        } catch (IOException | java.io.UncheckedIOException e) {
            // A part of the tree went away meanwhile.
            return false;
        }
    }

    private void assertOnlyRemains(String... names) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).extracting(file -> file.getFileName().toString()).containsExactly(names);
        }
    }
}
