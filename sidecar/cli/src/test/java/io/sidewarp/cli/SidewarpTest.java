// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class SidewarpTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nonsense",
                "ping",
                "ping peer",
                "ping peer:1 --listen 2",
                "ping peer:1 --size 4X",
                "ping peer:1 --size 0",
                "ping peer:1 --rping --size 64K",
                "ping peer:1 --count -1",
                "ping peer:1 --ready now",
                "ping peer:1 --read-depths deep",
                "ping peer:1 --mpa-accept 1,two",
                "ping peer:1 --no-crc --require-crc",
                "serve --dir . 7472 --require-crc --no-crc",
                "perf",
                "perf write",
                "perf fly peer:1",
                "perf write peer:1 --listen 2",
                "perf write peer:1 --depth 8 --signal 3",
                "perf write peer:1 --latency --connections 2",
                "perf write peer:1 --time soon",
                "perf write peer:1 --time 0",
                "perf write peer:1 --interval 0",
                "perf write peer:1 --interval often",
                "perf write peer:1 --signal -1",
                "perf write peer:1 --queue pipe",
                "perf write peer:1 --wait 5s",
                "ping peer:1 --wait 5s",
                "--wait soon show device",
                "perf write peer:1 --max-fpdu 2G",
                "perftest",
                "perftest write_bw",
                "perftest send_lat peer:1",
                "perftest write_bw peer:1 --listen 2",
                "perftest write_lat peer:1 --connections 2",
                "cp a b",
                "cp a:1/b c:1/d",
                "cp a:1/b c --slots 0",
                "serve 7472",
                "show everything",
                "show device --id 7",
                "show regions --peer 10.0.0.1",
                "show sessions --region a",
                "show --watch",
                "show regions --watch soon",
                "show regions --watch=soon",
                "show regions --watch 0",
                "show regions --count 3",
                "top --interval 0",
                "top --count -1",
                "top --region a",
                "top connections",
                "completion",
                "completion fish",
                "man",
                "demo --size 0"
            })
    void wrongArgumentsExitWithTwoAndOneLineThatSaysWhy(String line) {
        assertThat(run(line.split(" "))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).startsWith("sidewarp: ").doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void unknownCommandIsNamedWithAHint() {
        assertThat(run("fly", "peer:1")).isEqualTo(ExitCode.USAGE);

        assertThat(err.toString())
                .startsWith("sidewarp: no such command: fly\n")
                .contains("sidewarp --help");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ping", "perf", "perftest", "cp", "serve", "show", "top", "demo", "completion", "man"})
    void helpTellsOptionsAndExitCodes(String command) {
        assertThat(run((command + " --help").trim().split(" "))).isZero();
        assertThat(out.toString()).contains("--api", "SIDEWARP_API", "--volume", "Exit codes", "75");
    }

    @Test
    void theListOfCommandsHidesTheHelpersOfTheDemo() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains("ping", "perf", "perftest", "cp", "serve", "show", "top", "demo", "completion", "man")
                .doesNotContain("demo-");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ping peer:1",
                "ping peer:1 --mpa-revision 2 --peer-to-peer --ready write,send --read-depths private-data --require-crc",
                "ping --listen 1 --mpa-accept 0,1,2 --read-depths none --ready read",
                "perf write peer:1",
                "perf --listen 0",
                "show device",
                "cp peer:1/name file",
                "show regions",
                "show regions --watch",
                "show --watch regions",
                "show --watch 50ms regions",
                "top",
                "top --count 1 --session a",
                "cp -r peer:1/name file",
                "cp -r . peer:1/"
            })
    void aMissingSidecarExitsWithSixtyNineAndNamesIt(String line) {
        String socket = "unix://" + directory.resolve("api.sock");
        assertThat(run(("--api " + socket + " " + line).split(" "))).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(err.toString()).startsWith("sidewarp: ").contains(socket).doesNotContain("\tat ");
    }

    @Test
    void verboseAddsTheStackTrace() {
        String socket = "unix://" + directory.resolve("api.sock");
        assertThat(run("show", "device", "--api", socket, "--verbose")).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(err.toString()).contains("\tat ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--api unix:///nowhere.sock --wait-ready 10ms show device",
                "show --wait-ready 10ms --api unix:///nowhere.sock device",
                "--wait 10ms --api unix:///nowhere.sock show device",
                "--wait 10ms --api unix:///nowhere.sock perf write peer:1 --wait spin --queue RINGS"
            })
    void theSidecarIsWaitedForUnderBothNamesOfTheOption(String line) {
        assertThat(run(line.split(" "))).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(err.toString()).contains("no sidecar serves at").contains("within 10 ms");
    }

    @Test
    void theFormerNameOfAnOptionIsNotShown() {
        run("--help");
        assertThat(out.toString()).contains("--wait-ready").doesNotContain("--wait=");
    }

    @Test
    void aTargetThatIsNoneIsAUsageError() {
        assertThat(run("show", "device", "--api", "nowhere")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("unix:///run/sidewarp/api.sock");
    }

    @Test
    void aMissingFileExitsWithSixtySix() {
        String file = directory.resolve("missing").toString();
        assertThat(run("cp", file, "peer:1/name")).isEqualTo(ExitCode.NO_INPUT);
        assertThat(err.toString()).contains(file);
    }

    @Test
    void namesThatLeadElsewhereAreRefusedBeforeAnybodyIsAsked() {
        assertThat(run("cp", "peer:1/../etc/passwd", directory.toString())).isEqualTo(ExitCode.NO_PERMISSION);
    }

    @Test
    void namesThatNoServerTakesAreRefusedBeforeAnybodyIsAsked() throws IOException {
        String file = Files.writeString(directory.resolve("file"), "content").toString();

        for (String name : List.of("a/".repeat(600) + "f", "../f", ".hidden/")) {
            assertThat(run("cp", file, "peer:1/" + name)).as(name).isEqualTo(ExitCode.NO_PERMISSION);
        }
        assertThat(err.toString()).contains("is not served: it is empty, or longer than 512 bytes");
    }

    @Test
    void aDirectoryIsCopiedOnlyWithItsOption() {
        assertThat(run("cp", directory.toString(), "peer:1/name")).isEqualTo(ExitCode.NO_INPUT);
        assertThat(err.toString()).contains("is a directory; copy it with --recursive");
    }

    @Test
    void outputThatIsLostIsNoSuccess() {
        CommandLine commandLine = Sidewarp.commandLine(Map.of("NO_COLOR", "1"));
        commandLine.setOut(new PrintWriter(new FullDisk(), true, StandardCharsets.UTF_8));
        commandLine.setErr(new PrintWriter(err, true));

        assertThat(Sidewarp.execute(commandLine, "--version")).isEqualTo(ExitCode.IO_ERROR);
        assertThat(err.toString()).startsWith("sidewarp: standard output cannot be written");
    }

    @Test
    void aFileThatBecomesShorterWhileItIsMappedIsAFailureAndNoBug() throws IOException {
        Path file = Files.write(directory.resolve("mapped"), new byte[1]);
        CommandLine commandLine = Sidewarp.commandLine(Map.of("NO_COLOR", "1"));
        commandLine.setErr(new PrintWriter(err, true));
        commandLine.addSubcommand(
                "touch", CommandLine.Model.CommandSpec.wrapWithoutInspection((Runnable) () -> touchTruncated(file)));

        assertThat(Sidewarp.execute(commandLine, "touch")).isEqualTo(ExitCode.IO_ERROR);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith("sidewarp: a file that is mapped here")
                .contains("became shorter");
    }

    private static void touchTruncated(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 1);
            channel.truncate(0);
            mapped.get(new byte[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A stream that fails on every write, as on a full disk. */
    private static final class FullDisk extends OutputStream {

        @Override
        public void write(int octet) throws IOException {
            throw new IOException("no space left on device");
        }
    }

    private int run(String... arguments) {
        CommandLine commandLine = Sidewarp.commandLine(Map.of("NO_COLOR", "1"));
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }
}
