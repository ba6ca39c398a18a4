// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.grpc.Status;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.programs.RegionOpener;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.VerbsLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests access to the API by the user ID that the kernel reports, with root's sidecar and a process of another user.
 */
@ExtendWith(Logs.class)
class OtherUserIT {

    private static final long UID = 54_321;
    private static final long GID = 54_322;

    /** The command line where another user can read it. */
    private static Path program;

    @BeforeAll
    static void installForAll() throws IOException {
        boolean root = Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        assumeTrue(root, "only root can start processes of other users");
        Tools.need("setpriv", "util-linux");
        program = Directories.temporary("program");
        Path source = Programs.cliJar().getParent();
        List<Path> files = new ArrayList<>(List.of(Programs.cliJar()));
        try (Stream<Path> libraries = Files.list(source.resolve("lib"))) {
            libraries.forEach(files::add);
        }
        Files.createDirectory(program.resolve("lib"));
        for (Path file : files) {
            Path copy = Files.copy(file, program.resolve(source.relativize(file)));
            Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
        }
        copyClass(RegionOpener.class);
        openToAll(program);
        openToAll(program.resolve("lib"));
    }

    private static void copyClass(Class<?> main) throws IOException {
        Path file = program.resolve(main.getName().replace('.', '/') + ".class");
        Files.createDirectories(file.getParent());
        try (InputStream code = main.getResourceAsStream(main.getSimpleName() + ".class")) {
            Files.copy(code, file);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        for (Path parent = file.getParent(); !parent.equals(program); parent = parent.getParent()) {
            openToAll(parent);
        }
    }

    @AfterAll
    static void uninstall() {
        if (program != null) {
            Directories.delete(program);
        }
    }

    private static void openToAll(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** A sidecar whose socket everybody can open, so that only its own check decides. */
    private static SidecarProcess sidecar(String setting, long id) throws IOException {
        SidecarProcess.Builder builder = SidecarProcess.with("users").set("sidewarp.api.socket-mode", "0666");
        SidecarProcess sidecar = builder.set(setting, Long.toString(id)).launch();
        openToAll(sidecar.socket().getParent());
        sidecar.process().awaitLine(line -> line.contains("event=started"));
        return sidecar;
    }

    /** Runs a Java program as the other user. */
    private static OwnedProcess java(String... arguments) {
        List<String> command = new ArrayList<>(List.of(Programs.java()));
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of(arguments));
        return program(command);
    }

    /** Runs a program as the other user. */
    private static OwnedProcess program(List<String> command) {
        List<String> whole = new ArrayList<>(List.of("setpriv", "--reuid=" + UID, "--regid=" + GID, "--clear-groups"));
        whole.addAll(command);
        return OwnedProcess.start("other-user", whole, Map.of(), Programs.output());
    }

    private static OwnedProcess showDevice(SidecarProcess sidecar) {
        String jar = program.resolve(Programs.cliJar().getFileName()).toString();
        return java("-jar", jar, "show", "device", "--api", sidecar.target());
    }

    /** Returns the answer that the other user gets for registering a file of root's sidecar for writing. */
    private static String open(SidecarProcess sidecar, String... file) {
        List<String> command = new ArrayList<>(List.of(
                "-cp",
                program + ":" + program.resolve("lib") + "/*",
                RegionOpener.class.getName(),
                sidecar.target(),
                sidecar.volume().toString()));
        command.addAll(List.of(file));
        try (OwnedProcess opener = java(command.toArray(String[]::new))) {
            assertThat(opener.awaitExit()).as(opener.text()).isZero();
            return opener.text();
        }
    }

    private static void assertAllowed(SidecarProcess sidecar) {
        try (OwnedProcess show = showDevice(sidecar)) {
            assertThat(show.awaitExit()).as(show.text()).isZero();
            assertThat(show.text()).contains("software");
        }
    }

    private static void assertRefused(SidecarProcess sidecar) {
        try (OwnedProcess show = showDevice(sidecar)) {
            assertThat(show.awaitExit()).as(show.text()).isEqualTo(ExitCodes.NO_PERMISSION);
            assertThat(show.text())
                    .contains(
                            "user " + UID + ", group " + GID + " may not use this sidecar",
                            "sidewarp.api.allowed-uids");
        }
    }

    @Test
    void anAllowedUserIsServedAndRootIsNot() throws IOException {
        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-uids", UID);
                SidewarpClient rootsClient = sidecar.client()) {
            assertAllowed(sidecar);
            assertThatThrownBy(rootsClient::device)
                    .isInstanceOfSatisfying(
                            SidewarpException.class,
                            failure -> assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED));
        }
    }

    @Test
    void aMemberOfAnAllowedGroupIsServed() throws IOException {
        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-gids", GID)) {
            assertAllowed(sidecar);
        }
    }

    @Test
    void anyOtherUserIsRefused() throws IOException {
        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-uids", 0);
                SidewarpClient rootsClient = sidecar.client()) {
            assertThat(rootsClient.device().provider()).isEqualTo("software");
            assertRefused(sidecar);
        }
    }

    @Test
    @Requirement({"RDMAP-8.1.2-01", "RDMAP-8.1.2-04"})
    void aFileThatItsUserMayNotUseBecomesNoRegion() throws IOException {
        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-uids", UID)) {
            openToAll(sidecar.volume());
            Path own = Files.write(sidecar.volume().resolve("own"), new byte[4096]);
            Files.setAttribute(own, "unix:uid", (int) UID);
            Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rw-------"));
            Path readable = Files.write(sidecar.volume().resolve("readable"), new byte[4096]);
            Files.setPosixFilePermissions(readable, PosixFilePermissions.fromString("rw-r--r--"));

            Path sparse = sidecar.volume().resolve("sparse");
            try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
                file.setLength(4096);
            }
            Files.setPosixFilePermissions(sparse, PosixFilePermissions.fromString("rw-------"));

            Path closed = Files.createDirectory(sidecar.volume().resolve("closed"));
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
            Path inside = Files.write(closed.resolve("inside"), new byte[4096]);
            Files.setPosixFilePermissions(inside, PosixFilePermissions.fromString("rw-rw-rw-"));

            assertThat(open(sidecar, "own")).isEqualTo(RegionOpener.OPENED);
            assertThat(open(sidecar, "closed/inside"))
                    .startsWith("PERMISSION_DENIED user " + UID + " may not read and write closed/inside");
            assertThat(open(sidecar, "readable"))
                    .startsWith("PERMISSION_DENIED user " + UID + " may not read and write readable");
            assertThat(open(sidecar, "sparse"))
                    .startsWith("PERMISSION_DENIED user " + UID + " may not read and write sparse");
            // Nor does it cost the volume anything.
            try (OwnedProcess stat = OwnedProcess.start("stat", List.of("stat", "-c", "%b", sparse.toString()))) {
                assertThat(stat.awaitExit()).isZero();
                assertThat(stat.text()).isEqualTo("0");
            }
        }
    }

    @Test
    void creatorOfARegionOpensItsFile() throws IOException {
        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-uids", UID)) {
            openToAll(sidecar.volume());

            assertThat(open(sidecar, "created", "4096")).isEqualTo(RegionOpener.OPENED);
        }
    }

    /** The kernel makes a process not dumpable if its user cannot read its program. */
    @Test
    void verbsLibraryExplainsThatProcessIsNotDumpable() throws IOException {
        Tools.needFile("/usr/bin/rping", "rdmacm-utils");
        VerbsLibrary.build();
        Path rping = Files.copy(Path.of("/usr/bin/rping"), program.resolve("rping"));
        Files.setPosixFilePermissions(rping, PosixFilePermissions.fromString("rwx--x--x"));
        Path library = Files.copy(VerbsLibrary.path(), program.resolve("libsidewarp-verbs.so"));
        Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rwxr-xr-x"));

        try (SidecarProcess sidecar = sidecar("sidewarp.api.allowed-uids", UID)) {
            openToAll(sidecar.volume());
            List<String> command = List.of(
                    "env",
                    "LD_PRELOAD=" + library,
                    "SIDEWARP_API=" + sidecar.target(),
                    rping.toString(),
                    "-c",
                    "-a",
                    "127.0.0.1");
            try (OwnedProcess client = program(command)) {
                assertThat(client.awaitExit()).isNotZero();
                assertThat(client.text()).contains("this process is not dumpable", "Make it dumpable before");
            }
        }
    }

    @Test
    void aUserOutsideOfTheSocketsGroupCannotOpenIt() throws IOException {
        try (SidecarProcess sidecar = SidecarProcess.start("closed")) {
            openToAll(sidecar.socket().getParent());
            try (OwnedProcess show = showDevice(sidecar)) {
                assertThat(show.awaitExit()).as(show.text()).isIn(ExitCodes.UNAVAILABLE, ExitCodes.NO_PERMISSION);
                assertThat(show.text()).contains(sidecar.socket().toString()).contains("ermission");
            }
        }
    }
}
