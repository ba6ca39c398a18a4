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
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code sidewarp cp --recursive} and {@code sidewarp serve} as processes. */
@ExtendWith(Logs.class)
class CopyTreeIT {

    private static final byte[] LARGE = Pattern.bytes(7, 3_000_001);

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private Path local;
    private Path served;
    private Path tree;
    private OwnedProcess server;
    private String address;

    @BeforeEach
    void start() throws IOException {
        local = Directories.temporary("local");
        served = Directories.temporary("served");
        tree = local.resolve("tree");
        Files.createDirectories(tree.resolve("sub/deep"));
        Files.createDirectory(tree.resolve("empty"));
        Files.write(tree.resolve("sub/large"), LARGE);
        Files.writeString(tree.resolve("sub/deep/tool"), "content");
        permit(tree.resolve("sub/deep/tool"), "rwxr-x---");
        permit(tree.resolve("sub/deep"), "r-xr-x---");
        permit(tree.resolve("empty"), "rwx------");
        server = CliProcess.start(SIDECARS.right(), "serve", "--dir", served.toString(), "127.0.0.1:0");
        address = CliProcess.awaitAddress(server);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        allowDeletion(local);
        allowDeletion(served);
        Directories.delete(local);
        Directories.delete(served);
    }

    /** Only root may delete files of directories that are read-only. */
    private static void allowDeletion(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .toList()) {
                permit(path, "rwx------");
            }
        }
    }

    private static void permit(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    private static Ended copy(Object from, Object to) {
        return CliProcess.run(SIDECARS.left(), "cp", "-r", from.toString(), to.toString());
    }

    /** Returns the permissions of everything below a directory, by name. */
    private static Map<String, String> content(Path directory) throws IOException {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.toList()) {
                String permissions =
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
                content.put(directory.relativize(path).toString(), permissions);
            }
        }
        return content;
    }

    @Test
    void aTreeArrivesWithItsPermissionsAndComesBack() throws IOException {
        Ended there = copy(tree, address + "/");
        Ended back = copy(address + "/tree/", local.resolve("back"));
        Ended inside = copy(address + "/tree/sub", local.resolve("back"));

        assertThat(there.exitCode()).as(there.text()).isZero();
        assertThat(there.output())
                .singleElement()
                .asString()
                .contains(
                        tree + " -> " + address + "/tree: 2 files and 4 directories in ",
                        "SHA-256 of each file verified");
        assertThat(back.exitCode()).as(back.text()).isZero();
        assertThat(back.text()).contains("2 files and 4 directories");
        assertThat(content(served.resolve("tree"))).isEqualTo(content(tree));
        assertThat(inside.exitCode()).as(inside.text()).isZero();
        assertThat(content(local.resolve("back/sub"))).isEqualTo(content(tree.resolve("sub")));
        assertThat(local.resolve("back/sub/large")).hasBinaryContent(LARGE);
        assertThat(served)
                .isDirectoryNotContaining(path -> path.getFileName().toString().startsWith("."));
        server.awaitLine(line -> line.contains("7 requests of a directory, the last: "));
    }

    @Test
    void linksAndSpecialFilesAreToldAndLeftOut() throws IOException {
        Path secret = Files.writeString(local.resolve("secret"), "secret");
        Files.createSymbolicLink(tree.resolve("link"), secret);
        Files.createSymbolicLink(tree.resolve("linked"), local);

        Ended there = copy(tree, address + "/tree");
        Files.createSymbolicLink(served.resolve("tree/link"), secret);
        Ended back = copy(address + "/", local.resolve("back"));

        assertThat(there.exitCode()).as(there.text()).isZero();
        assertThat(there.text())
                .contains(
                        "left out " + tree + "/link: a symbolic link",
                        "left out " + tree + "/linked: ",
                        "; 2 left out");
        assertThat(back.text()).contains("left out " + address + "/tree/link: a symbolic link");
        assertThat(content(local.resolve("back/tree")))
                .containsOnlyKeys(content(tree).keySet().stream()
                        .filter(name -> !name.startsWith("link"))
                        .toArray(String[]::new));
    }

    @Test
    void filesThatFailAreNamedAndTheOthersAreCopied() throws IOException {
        Files.writeString(tree.resolve(".hidden"), "content");
        Files.writeString(tree.resolve("closed"), "content");
        permit(tree.resolve("closed"), "---------");
        Files.createDirectories(served.resolve("tree/sub/large"));

        Ended ended = CliProcess.runUnder(
                Tools.withoutPrivilegeOnFiles(), SIDECARS.left(), "cp", "--recursive", tree.toString(), address + "/");

        ended.assertFailed(
                ExitCodes.FAILED,
                "the name \".hidden\" is not served",
                "sidewarp: " + tree + "/closed: no permission",
                "sidewarp: " + tree + "/sub/large: the peer says: \"tree/sub/large\" is a directory",
                "1 file and 4 directories",
                "3 FAILED",
                "3 files or directories were not copied");
        assertThat(served.resolve("tree/sub/deep/tool")).hasContent("content");
        assertThat(served.resolve("tree/sub/large")).isEmptyDirectory();
    }

    @Test
    void nothingIsStoredBehindALinkOfTheServer() throws IOException {
        Path outside = Files.createDirectory(local.resolve("outside"));
        Files.createSymbolicLink(served.resolve("tree"), outside);

        copy(tree, address + "/tree")
                .assertFailed(ExitCodes.CANNOT_CREATE, "\"tree\" is there, and is not a directory");
        copy(tree, address + "/tree/below").assertFailed(ExitCodes.CANNOT_CREATE, "there is no directory \"tree\"");
        copy(tree, address + "/../outside").assertFailed(ExitCodes.NO_PERMISSION, "is not served");
        assertThat(outside).isEmptyDirectory();
    }

    @Test
    void aReadOnlyServerMakesNoDirectory() {
        try (OwnedProcess readOnly =
                CliProcess.start(SIDECARS.right(), "serve", "--dir", served.toString(), "--read-only", "127.0.0.1:0")) {
            copy(tree, CliProcess.awaitAddress(readOnly) + "/")
                    .assertFailed(ExitCodes.NO_PERMISSION, "the server runs with --read-only");
        }
        assertThat(served).isEmptyDirectory();
    }

    @Test
    void aDirectoryThatIsMissingIsNamed() {
        copy(local.resolve("none"), address + "/").assertFailed(ExitCodes.NO_INPUT, "there is no file");
        copy(address + "/none", local.resolve("x"))
                .assertFailed(ExitCodes.NO_INPUT, "the peer says: there is no directory \"none\"");
        assertThat(local.resolve("x")).doesNotExist();
        assertThat(served).isEmptyDirectory();
    }
}
