// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code sidewarp cp} and {@code sidewarp serve} as processes. */
@ExtendWith(Logs.class)
class CopyCommandIT {

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private static Path served;
    private static OwnedProcess server;
    private static String address;

    @TempDir
    private Path local;

    @BeforeAll
    static void start() {
        served = Directories.temporary("served");
        server = CliProcess.start(
                SIDECARS.right(), "serve", "--dir", served.toString(), "--max-size", "8M", "127.0.0.1:0");
        address = CliProcess.awaitAddress(server);
    }

    @AfterAll
    static void stop() {
        server.close();
        Directories.delete(served);
    }

    private static Ended copy(String from, String to, String... options) {
        List<String> arguments =
                Stream.concat(Stream.of("cp", from, to), Stream.of(options)).toList();
        return CliProcess.run(SIDECARS.left(), arguments.toArray(String[]::new));
    }

    private static Ended copy(Path from, String to) {
        return copy(from.toString(), to);
    }

    private static Ended copy(String from, Path to) {
        return copy(from, to.toString());
    }

    /** None, one, those of some chunks and a piece, and more than fit into the window of memory. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3_000_001, 8 << 20})
    void aFileArrivesThereAndComesBack(int size) throws Exception {
        byte[] content = Pattern.bytes(size, size);
        Path file = Files.write(local.resolve("file"), content);

        Ended there = copy(file.toString(), address + "/copy-" + size, "--chunk", "64K", "--slots", "4");
        Ended back = copy(address + "/copy-" + size, local.resolve("back"));

        assertThat(there.exitCode()).as(there.text()).isZero();
        assertThat(back.exitCode()).as(back.text()).isZero();
        assertThat(served.resolve("copy-" + size)).hasBinaryContent(content);
        assertThat(local.resolve("back")).hasBinaryContent(content);
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        assertThat(there.output()).singleElement().asString().contains("SHA-256 " + digest + " verified");
        assertThat(back.output()).singleElement().asString().contains("SHA-256 " + digest + " verified");
    }

    @Test
    void withoutANameTheFileKeepsItsOwn() throws IOException {
        Path file = Files.writeString(local.resolve("own-name"), "content");
        Files.createDirectory(local.resolve("directory"));

        assertThat(copy(file, address + "/").exitCode()).isZero();
        assertThat(copy(address + "/own-name", local.resolve("directory")).exitCode())
                .isZero();

        assertThat(served.resolve("own-name")).hasContent("content");
        assertThat(local.resolve("directory/own-name")).hasContent("content");
    }

    @Test
    void aDirectoryThatTheServerMayNotOpenIsNotToldToBeMissing() throws IOException {
        Path file = Files.writeString(local.resolve("file"), "content");
        Path closed = Files.createDirectory(served.resolve("closed"));
        Files.setPosixFilePermissions(closed, Set.of());
        try (OwnedProcess limited = CliProcess.startUnder(
                Tools.withoutPrivilegeOnFiles(),
                SIDECARS.right(),
                "serve",
                "--dir",
                served.toString(),
                "127.0.0.1:0")) {
            String there = CliProcess.awaitAddress(limited) + "/closed/file";

            copy(there, local.resolve("other")).assertFailed(ExitCodes.NO_PERMISSION, "no permission", "closed");
            copy(file, there).assertFailed(ExitCodes.NO_PERMISSION, "no permission", "closed");
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void aMissingFileIsNamedHereAndAtThePeer() throws IOException {
        copy(local.resolve("none"), address + "/x")
                .assertFailed(ExitCodes.NO_INPUT, local.resolve("none").toString());
        copy(address + "/none", local.resolve("x")).assertFailed(ExitCodes.NO_INPUT, "the peer says", "\"none\"");
        assertNothingIsLeft();
    }

    @Test
    void whatIsNoRegularFileIsNotServed() throws IOException {
        Path outside = Files.writeString(local.resolve("outside"), "secret");
        Files.createSymbolicLink(served.resolve("link"), outside);

        copy(address + "/link", local.resolve("x")).assertFailed(ExitCodes.NO_INPUT, "\"link\" is not a regular file");
        assertThat(local.resolve("x")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"../outside", "/etc/passwd", ".hidden", "a/../../b"})
    void namesThatLeadElsewhereAreRefused(String name) throws IOException {
        copy(address + "/" + name, local.resolve("x")).assertFailed(ExitCodes.NO_PERMISSION, name);
        assertNothingIsLeft();
    }

    @Test
    void aTargetThatCannotBeCreatedIsNamedHere() throws IOException {
        Files.writeString(served.resolve("there"), "content");
        copy(address + "/there", local.resolve("no/directory"))
                .assertFailed(ExitCodes.CANNOT_CREATE, local.resolve("no").toString());
    }

    @Test
    void aFileThatCannotBeWrittenToItsEndIsNotLeftBehind() throws IOException {
        Tools.need("prlimit", "util-linux");
        Files.write(served.resolve("long"), new byte[3_000_000]);

        // Room for what the JVM and its libraries write for themselves.
        Ended ended = CliProcess.runUnder(
                List.of("prlimit", "--fsize=1000000"),
                SIDECARS.left(),
                "cp",
                address + "/long",
                local.resolve("long").toString());

        ended.assertFailed(ExitCodes.IO_ERROR, "File too large");
        assertNothingIsLeft();
    }

    @Test
    void aFileThatIsTooLargeForTheServerIsNotStored() throws IOException {
        Path file = Files.write(local.resolve("file"), new byte[(8 << 20) + 1]);
        copy(file, address + "/large").assertFailed(ExitCodes.NO_RESOURCES, "--max-size");
        assertThat(served.resolve("large")).doesNotExist();
    }

    @Test
    void aServerUsesNoLargerWindowThanItsLimit() throws IOException {
        byte[] content = Pattern.bytes(12, 3_000_001);
        Path file = Files.write(local.resolve("file"), content);
        try (OwnedProcess small = CliProcess.start(
                SIDECARS.right(), "serve", "--dir", served.toString(), "--max-window", "64K", "127.0.0.1:0")) {
            String there = CliProcess.awaitAddress(small) + "/small-window";

            Ended pushed = copy(file.toString(), there, "--chunk", "16M", "--slots", "32");
            Ended pulled = copy(there, local.resolve("back").toString(), "--chunk", "16M", "--slots", "32");

            assertThat(pushed.exitCode()).as(pushed.text()).isZero();
            assertThat(pulled.exitCode()).as(pulled.text()).isZero();
        }
        assertThat(local.resolve("back")).hasBinaryContent(content);
    }

    @Test
    void aWindowBelowOneChunkIsRefused() {
        CliProcess.run(SIDECARS.right(), "serve", "--dir", served.toString(), "--max-window", "1K", "127.0.0.1:0")
                .assertFailed(ExitCodes.USAGE, "--max-window is 1 KiB; it must be at least 64 KiB");
    }

    @Test
    void copyFailsWhenTheServerDiesInTheMiddle() throws IOException {
        Path file = local.resolve("file");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(1 << 30);
        }
        try (OwnedProcess dying =
                        CliProcess.start(SIDECARS.right(), "serve", "--dir", served.toString(), "127.0.0.1:0");
                OwnedProcess copy = CliProcess.start(
                        SIDECARS.left(), "cp", file.toString(), CliProcess.awaitAddress(dying) + "/half")) {
            Patience.await("the server has begun to store").until(() -> !copy.isAlive() || hasPart("half"));
            dying.kill();

            assertThat(copy.awaitExit()).as(copy.text()).isEqualTo(ExitCodes.FAILED);
            assertThat(copy.output()).singleElement().asString().startsWith("sidewarp: the connection ");
            assertThat(served.resolve("half")).doesNotExist();
        }
    }

    private static boolean hasPart(String name) throws IOException {
        try (Stream<Path> files = Files.list(served)) {
            return files.anyMatch(path -> path.getFileName().toString().startsWith("." + name + ".sidewarp-"));
        }
    }

    @Test
    void aReadOnlyServerStoresNothingAndServes() throws IOException {
        Files.writeString(served.resolve("there"), "content");
        Path file = Files.writeString(local.resolve("file"), "mine");
        try (OwnedProcess readOnly =
                CliProcess.start(SIDECARS.right(), "serve", "--dir", served.toString(), "--read-only", "127.0.0.1:0")) {
            String where = CliProcess.awaitAddress(readOnly);

            copy(file, where + "/there").assertFailed(ExitCodes.NO_PERMISSION, "--read-only");
            assertThat(copy(where + "/there", local.resolve("back")).exitCode()).isZero();
        }
        assertThat(served.resolve("there")).hasContent("content");
        assertThat(local.resolve("back")).hasContent("content");
    }

    @Test
    void aDirectoryThatIsMissingIsNotServed() {
        Ended ended = CliProcess.run(SIDECARS.right(), "serve", "--dir", "/nowhere", "127.0.0.1:0");
        ended.assertFailed(ExitCodes.NO_INPUT, "/nowhere");
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(local)) {
            assertThat(files).isEmpty();
        }
    }
}
