// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.engine.memory.SharedVolume.Holder;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how a sidecar handles files that a killed sidecar left in the shared volume. */
class OrphansTest {

    private static final long LENGTH = 8192;
    private static final Holder ALICE = new Holder(1000, "region 7 of session \"alice\"");
    private static final Holder BOB = new Holder(1001, "region 8 of session \"bob\"");

    @TempDir
    private Path root;

    private SharedVolume volume;

    @BeforeEach
    void open() {
        volume = new SharedVolume(root);
    }

    @Test
    void sameUserTakesAFileOverWithItsContent() throws Exception {
        crash(ALICE, "inbox");
        assertThat(volume.findOrphans()).isEmpty();

        try (SharedBacking backing = open("inbox", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(first(backing)).isEqualTo(CrashProgram.CONTENT);
            assertThat(backing.existed()).isTrue();
            assertThat(volume.removeOrphans()).isZero();
            assertThat(root.resolve("inbox")).exists();
        }

        assertThat(root).isEmptyDirectory();
    }

    @Test
    void fileOfATakeOverThatIsUndoneKeepsItsContentForTheNextOne() throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();

        try (SharedBacking undone = open("inbox", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            undone.keepContent();
        }

        try (SharedBacking next = open("inbox", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(first(next)).isEqualTo(CrashProgram.CONTENT);
            assertThat(next.existed()).isTrue();
        }
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void takenOverFileIsExtendedWithZerosAndNeverCut() throws Exception {
        crash(ALICE, "shorter", "longer");
        volume.findOrphans();

        try (SharedBacking shorter = open("shorter", LENGTH + 100, RegionFileMode.OPEN_OR_CREATE, ALICE);
                SharedBacking longer = open("longer", 100, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(first(shorter)).isEqualTo(CrashProgram.CONTENT);
            assertThat(shorter.segment().asSlice(LENGTH).toArray(ValueLayout.JAVA_BYTE))
                    .hasSize(100)
                    .containsOnly(0);
            assertThat(longer.length()).isEqualTo(100);
            assertThat(root.resolve("longer")).hasSize(LENGTH);
        }
    }

    @Test
    void openOrCreateCreatesAMissingFile() {
        try (SharedBacking backing = open("new", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(first(backing)).isZero();
            assertThat(backing.existed()).isFalse();
        }
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void openOrCreateOpensAnApplicationsOwnFileAndLeavesIt() throws Exception {
        Files.write(root.resolve("own"), new byte[] {5, 6});

        try (SharedBacking backing = open("own", 2, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(first(backing)).isEqualTo((byte) 5);
            assertThat(backing.existed()).isTrue();
        }
        assertRefused("own", 3, RegionFileMode.OPEN_OR_CREATE, ALICE, RegionException.Reason.OUT_OF_BOUNDS, "2 bytes");
        assertThat(root.resolve("own")).hasBinaryContent(new byte[] {5, 6});
    }

    @Test
    void replaceBeginsAnew() throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();

        try (SharedBacking backing = open("inbox", LENGTH, RegionFileMode.REPLACE, ALICE)) {
            assertThat(first(backing)).isZero();
            assertThat(backing.existed()).isFalse();
        }
        assertThat(root).isEmptyDirectory();
    }

    @ParameterizedTest
    @EnumSource(
            value = RegionFileMode.class,
            names = {"MUST_BE_NEW", "REPLACE"})
    void applicationsOwnFileIsNeverReplaced(RegionFileMode mode) throws Exception {
        Files.writeString(root.resolve("own"), "mine");

        assertExists("own", mode, ALICE, "the application's own file");
        assertThat(root.resolve("own")).hasContent("mine");
    }

    @Test
    void fileThatMustBeNewIsRefusedWithTheModesThatWork() throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();

        assertExists("inbox", RegionFileMode.MUST_BE_NEW, ALICE, "open-or-create", "replace");
        assertThat(root.resolve("inbox")).exists();
    }

    @ParameterizedTest
    @EnumSource(
            value = RegionFileMode.class,
            names = {"MUST_BE_NEW", "OPEN_OR_CREATE", "REPLACE"})
    void fileOfAnotherUserIsNotTaken(RegionFileMode mode) throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();

        assertExists("inbox", mode, BOB, "for another user");
        assertThat(root.resolve("inbox")).exists();
    }

    @ParameterizedTest
    @EnumSource(
            value = RegionFileMode.class,
            names = {"MUST_BE_NEW", "OPEN_OR_CREATE", "REPLACE"})
    void fileOfALiveRegionIsRefusedAndItsUserLearnsWhichItIs(RegionFileMode mode) {
        try (SharedBacking ignored = open("inbox", LENGTH, RegionFileMode.MUST_BE_NEW, ALICE)) {
            assertExists("inbox", mode, ALICE, "region 7 of session \"alice\"");
            assertThatExceptionOfType(RegionException.class)
                    .isThrownBy(() -> open("inbox", LENGTH, mode, BOB))
                    .withMessageContaining("a region of another user")
                    .withMessageNotContaining("alice");
            assertThat(volume.removeOrphans()).isZero();
            assertThat(root.resolve("inbox")).exists();
        }
    }

    @Test
    void whatNobodyTookIsRemoved() throws Exception {
        String deep = "directory/" + "n".repeat(250) + "/ö ü..";
        Files.createDirectories(root.resolve(deep).getParent());
        crash(ALICE, "inbox", deep, "kept");
        volume.findOrphans();
        assertThat(root.resolve(deep)).exists();

        try (SharedBacking ignored = open("kept", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE)) {
            assertThat(volume.removeOrphans()).isZero();

            assertThat(root.resolve("inbox")).doesNotExist();
            assertThat(root.resolve(deep)).doesNotExist();
            assertThat(root.resolve("kept")).exists();
        }
        assertThat(root.resolve(FileRecords.DIRECTORY)).doesNotExist();
    }

    @Test
    void orphanThatARegionOpenedStaysAsLongAsTheRegion() throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();
        SharedBacking opened = TestVolume.open(volume, "inbox", 0, 0, false);

        assertThat(volume.removeOrphans()).isOne();
        assertExists("inbox", RegionFileMode.REPLACE, ALICE, "a region that did not create it");
        assertExists("inbox", RegionFileMode.OPEN_OR_CREATE, ALICE, "a region that did not create it");
        assertThat(root.resolve("inbox")).exists();
        opened.close();

        assertThat(volume.removeOrphans()).isZero();
        assertThat(root).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void applicationsFileOfTheSameNameIsSafe(boolean beforeTheStart) throws Exception {
        crash(ALICE, "inbox");
        if (beforeTheStart) {
            replaceByOwn("inbox");
            volume.findOrphans();
            assertThat(root.resolve(FileRecords.DIRECTORY)).doesNotExist();
        } else {
            volume.findOrphans();
            replaceByOwn("inbox");
        }

        assertExists("inbox", RegionFileMode.REPLACE, ALICE, "the application's own file");
        assertThat(volume.removeOrphans()).isZero();

        assertThat(root.resolve("inbox")).hasContent("mine");
        assertThat(root.resolve(FileRecords.DIRECTORY)).doesNotExist();
    }

    private void replaceByOwn(String name) throws IOException {
        Files.delete(root.resolve(name));
        Files.writeString(root.resolve(name), "mine");
    }

    @Test
    void fileThatTheApplicationRenamedIsTheApplications() throws Exception {
        crash(ALICE, "inbox");
        volume.findOrphans();
        Files.move(root.resolve("inbox"), root.resolve("saved"));

        assertThat(volume.removeOrphans()).isZero();

        assertThat(root.resolve("saved")).hasSize(LENGTH);
    }

    @Test
    void filesOfAnotherLiveSidecarStay() {
        try (SharedBacking ignored = open("inbox", LENGTH, RegionFileMode.MUST_BE_NEW, ALICE)) {
            SharedVolume other = new SharedVolume(root);
            assertThat(other.findOrphans()).isEmpty();

            assertThat(other.removeOrphans()).isOne();

            assertThat(root.resolve("inbox")).exists();
        }
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void recordsThatNoSidecarCompletedRemoveNothing() throws Exception {
        Path records = Files.createDirectory(
                root.resolve(FileRecords.DIRECTORY),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createDirectories(records.resolve("1000-0"));
        Files.createDirectories(records.resolve("1000-1/_deep"));
        Files.writeString(Files.createDirectories(records.resolve("1000-2")).resolve("b3du"), "other content");
        Files.writeString(Files.createDirectories(records.resolve("1000-3")).resolve("_%zz"), "no encoded path");
        Files.writeString(records.resolve("readme"), "no entry");
        Files.writeString(root.resolve("own"), "mine");

        assertThat(volume.findOrphans()).isEmpty();

        assertThat(volume.removeOrphans()).isZero();
        assertThat(root.resolve("own")).hasContent("mine");
        assertThat(records.resolve("1000-0")).doesNotExist();
        assertThat(records.resolve("1000-1")).doesNotExist();
        assertThat(records.resolve("1000-2")).doesNotExist();
        open("new", LENGTH, RegionFileMode.MUST_BE_NEW, ALICE).close();
        assertThat(root.resolve("new")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxr-x---", "rwx---rwx", "link", "file"})
    void directoryThatOthersCanChangeIsNotTrusted(String kind) throws Exception {
        Path records = root.resolve(FileRecords.DIRECTORY);
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        switch (kind) {
            case "link" -> Files.createSymbolicLink(records, elsewhere);
            case "file" -> Files.createFile(records);
            default ->
                Files.setPosixFilePermissions(Files.createDirectory(records), PosixFilePermissions.fromString(kind));
        }

        assertThat(volume.findOrphans())
                .hasValueSatisfying(problem ->
                        assertThat(problem).contains(FileRecords.DIRECTORY).contains("mode 0700"));

        try (SharedBacking backing = open("new", LENGTH, RegionFileMode.MUST_BE_NEW, ALICE)) {
            assertThat(backing.length()).isEqualTo(LENGTH);
            assertExists("new", RegionFileMode.OPEN_OR_CREATE, ALICE, "region 7");
            assertThat(elsewhere).isEmptyDirectory();
        }
        assertThat(root.resolve("new")).doesNotExist();
    }

    @Test
    void recordsCannotBecomeRegions() {
        try (SharedBacking ignored = open("inbox", LENGTH, RegionFileMode.MUST_BE_NEW, ALICE)) {
            for (RegionFileMode mode : RegionFileMode.values()) {
                assertRefused(
                        FileRecords.DIRECTORY + "/1000-0/_inbox",
                        LENGTH,
                        mode,
                        ALICE,
                        RegionException.Reason.INVALID_PATH,
                        "its own records");
            }
        }
    }

    @Test
    void holdsNoDescriptorAfterwards() throws Exception {
        crash(ALICE, "taken", "replaced", "opened", "left");
        volume.findOrphans();
        open("taken", LENGTH, RegionFileMode.OPEN_OR_CREATE, ALICE).close();
        open("replaced", LENGTH, RegionFileMode.REPLACE, ALICE).close();
        TestVolume.open(volume, "opened", 0, 0, false).close();
        assertExists("left", RegionFileMode.REPLACE, BOB, "another user");
        assertRefused("left", Long.MAX_VALUE, RegionFileMode.OPEN_OR_CREATE, ALICE, null, "left");
        volume.removeOrphans();

        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(descriptors.filter(this::isBelowRoot)).isEmpty();
        }
        assertThat(root).isEmptyDirectory();
    }

    private boolean isBelowRoot(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(root.toRealPath());
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private SharedBacking open(String path, long length, RegionFileMode mode, Holder holder) {
        return volume.open(path, 0, length, mode, holder, (octets, access) -> {});
    }

    private static byte first(SharedBacking backing) {
        return backing.segment().get(ValueLayout.JAVA_BYTE, 0);
    }

    private void assertExists(String path, RegionFileMode mode, Holder holder, String... hints) {
        for (String hint : hints) {
            assertRefused(path, LENGTH, mode, holder, RegionException.Reason.ALREADY_EXISTS, hint);
        }
    }

    private void assertRefused(
            String path, long length, RegionFileMode mode, Holder holder, RegionException.Reason reason, String hint) {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> open(path, length, mode, holder))
                .withMessageContaining(hint)
                .satisfies(refusal -> {
                    if (reason != null) {
                        assertThat(refusal.reason()).isEqualTo(reason);
                    }
                });
    }

    /** A sidecar creates files for a user, and dies. */
    private void crash(Holder holder, String... paths) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                CrashProgram.class.getName(),
                root.toString()));
        for (String path : paths) {
            command.addAll(List.of(Long.toString(holder.user()), path, Long.toString(LENGTH)));
        }
        Process process = new ProcessBuilder(command).inheritIO().start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(paths).allSatisfy(path -> assertThat(root.resolve(path)).exists());
    }
}
