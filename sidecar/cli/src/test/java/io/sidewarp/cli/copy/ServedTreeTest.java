// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.copy.DirectoryListing.Entry;
import io.sidewarp.cli.copy.DirectoryListing.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the directories of a {@link ServedDirectory}. */
class ServedTreeTest {

    private static final FileName SUB = FileName.of("sub");

    @TempDir
    private Path temporary;

    private Path root;
    private ServedDirectory served;

    @BeforeEach
    void setUp() throws IOException {
        root = Files.createDirectory(temporary.resolve("root"));
        Files.createDirectory(root.resolve("sub"));
        Files.createSymbolicLink(root.resolve("linked"), temporary);
        served = ServedDirectory.of(root);
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static void permit(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    @Test
    void listsKindsSizesAndPermissions() throws IOException {
        permit(root.resolve("sub"), "rwxr-x---");
        Files.writeString(root.resolve("sub/file"), "content");
        permit(root.resolve("sub/file"), "r--r-----");
        Files.createDirectory(root.resolve("sub/below"), PosixFilePermissions.asFileAttribute(Set.of()));
        Files.createSymbolicLink(root.resolve("sub/link"), temporary);

        DirectoryListing listing = served.list(SUB);

        assertThat(listing.mode()).isEqualTo(0750);
        assertThat(listing.entries())
                .extracting(Entry::name, Entry::kind)
                .containsExactlyInAnyOrder(
                        tuple("file", Kind.FILE), tuple("below", Kind.DIRECTORY), tuple("link", Kind.LINK));
        assertThat(listing.entries()).contains(new Entry(Kind.FILE, 0440, 7, "file"));
    }

    @Test
    void listsNothingBehindALink() {
        fails(() -> served.list(FileName.of("linked")), ExitCode.NO_INPUT);
        fails(() -> served.list(FileName.of("linked/root")), ExitCode.NO_INPUT);
        fails(() -> served.list(FileName.of("missing")), ExitCode.NO_INPUT);
    }

    @Test
    void makesADirectoryOnce() throws IOException {
        assertThat(served.makeDirectory(FileName.of("sub/new"), 0700)).isTrue();
        assertThat(served.makeDirectory(FileName.of("sub/new"), 0755)).isFalse();

        assertThat(permissions(root.resolve("sub/new"))).isEqualTo("rwx------");
        assertThat(root)
                .isDirectoryNotContaining(path -> path.getFileName().toString().startsWith("."));
    }

    @Test
    void makesNoDirectoryBehindALinkOrInThePlaceOfAFile() throws IOException {
        Files.writeString(root.resolve("file"), "content");

        fails(() -> served.makeDirectory(FileName.of("linked/new"), 0700), ExitCode.CANNOT_CREATE);
        fails(() -> served.makeDirectory(FileName.of("linked"), 0700), ExitCode.CANNOT_CREATE);
        fails(() -> served.makeDirectory(FileName.of("file"), 0700), ExitCode.CANNOT_CREATE);
        fails(() -> served.makeDirectory(FileName.of("missing/new"), 0700), ExitCode.CANNOT_CREATE);

        assertThat(temporary.resolve("new")).doesNotExist();
        assertThat(root.resolve("linked")).isSymbolicLink();
        assertThat(root.resolve("file")).hasContent("content");
    }

    @Test
    void makesItselfWhenItIsMissing() throws IOException {
        ServedDirectory missing = ServedDirectory.toMake(temporary.resolve("other"));

        assertThat(missing.makeDirectory(FileName.ROOT, 0700)).isTrue();
        assertThat(missing.makeDirectory(FileName.ROOT, 0700)).isFalse();
        assertThat(permissions(temporary.resolve("other"))).isEqualTo("rwx------");
        fails(
                () -> ServedDirectory.toMake(temporary.resolve("no/where")).makeDirectory(FileName.ROOT, 0700),
                ExitCode.CANNOT_CREATE);
    }

    @Test
    void takesPermissionsAwayAndGivesNone() throws IOException {
        permit(root.resolve("sub"), "rwx------");

        served.restrict(SUB, 0555);

        assertThat(permissions(root.resolve("sub"))).isEqualTo("r-x------");
        fails(() -> served.restrict(FileName.of("linked"), 0), ExitCode.NO_INPUT);
    }

    @Test
    void createsFilesWithPermissions() throws IOException {
        try (FileTarget target = served.create(FileName.of("sub/tool"), 0500)) {
            target.commit();
        }
        assertThat(permissions(root.resolve("sub/tool"))).isEqualTo("r-x------");
    }

    private static void fails(ThrowingCallable action, int exitCode) {
        assertThatThrownBy(action)
                .isInstanceOf(Failure.class)
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(exitCode);
    }
}
