// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.linux.LinuxErrno;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SharedVolumeTest {

    private static final int PAGE = (int) new SharedVolume(Path.of("/")).pageSize();

    @TempDir
    private Path root;

    private SharedVolume volume;

    @BeforeEach
    void open() {
        volume = new SharedVolume(root);
    }

    @Test
    void sharesItsPagesWithTheFile() throws Exception {
        Files.createDirectories(root.resolve("a/b"));
        Files.write(root.resolve("a/b/file"), new byte[] {1, 2, 3});

        try (SharedBacking backing = TestVolume.open(volume, "a/b/file", 0, 0, false)) {
            backing.segment().set(ValueLayout.JAVA_BYTE, 1, (byte) 9);

            assertThat(backing.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 9, 3);
            assertThat(Files.readAllBytes(root.resolve("a/b/file"))).containsExactly(1, 9, 3);
            assertThat(backing.path()).isEqualTo("a/b/file");
            assertThat(backing.length()).isEqualTo(3);
        }
        assertThat(root.resolve("a/b/file")).exists();
    }

    /**
     * The permissions of the group count for all other users, because the kernel does not report the groups of a user.
     */
    @ParameterizedTest
    @Requirement("RDMAP-8.1.2-04")
    @CsvSource({
        "rw-------, true, true, false, false",
        "r--r--r--, true, false, true, false",
        "rw-r-----, true, true, true, false",
        "rw-rw----, true, true, true, true",
        "r--r--rw-, true, false, true, true",
        "---rw-rw-, false, false, true, true"
    })
    void ownerAndModeSayWhoMayUseAFile(
            String mode, boolean ownerReads, boolean ownerWrites, boolean othersRead, boolean othersWrite)
            throws Exception {
        Path file = Files.write(root.resolve("file"), new byte[8]);
        List<Long> asked = new ArrayList<>();
        TestVolume.open(volume, "file", 0, 0, false, (length, access) -> {
                    long owner = setOwnerAndMode(file, mode);

                    assertThat(access.permits(owner, false)).isEqualTo(ownerReads);
                    assertThat(access.permits(owner, true)).isEqualTo(ownerWrites);
                    assertThat(access.permits(owner + 1, false)).isEqualTo(othersRead);
                    assertThat(access.permits(owner + 1, true)).isEqualTo(othersWrite);
                    assertThat(access.permits(0, true)).isTrue();
                    asked.add(length);
                })
                .close();
        assertThat(asked).containsExactly(8L);
    }

    /**
     * Tests the same for a directory: a file with all permissions is out of reach in a directory that is closed to
     * others.
     */
    @ParameterizedTest
    @Requirement("RDMAP-8.1.2-04")
    @CsvSource({
        "rwx------, true, true, false, false",
        "rwxrw-rw-, true, true, false, false",
        "r-xr-xr-x, true, false, true, false",
        "rwxr-x---, true, true, true, false",
        "rwxrwx---, true, true, true, true",
        "r-x---rwx, true, false, true, true"
    })
    void ownerAndModeOfADirectorySayWhoMayReachAFileOrCreateOne(
            String mode, boolean ownerReaches, boolean ownerCreates, boolean othersReach, boolean othersCreate)
            throws Exception {
        Path directory = Files.createDirectory(root.resolve("directory"));
        for (Path parent : List.of(directory, Files.createDirectory(directory.resolve("open")))) {
            Path file = Files.write(parent.resolve("file"), new byte[8]);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
        setOwnerAndMode(directory.resolve("open"), "rwxrwxrwx");
        long owner = setOwnerAndMode(directory, mode);

        for (String file : List.of("directory/file", "directory/open/file")) {
            assertThat(permits(file, false, owner)).isEqualTo(ownerReaches);
            assertThat(permits(file, false, owner + 1)).isEqualTo(othersReach);
        }
        assertThat(permits("directory/new", true, owner)).isEqualTo(ownerCreates);
        assertThat(permits("directory/new", true, owner + 1)).isEqualTo(othersCreate);
        assertThat(permits("directory/open/new", true, owner + 1)).isEqualTo(othersReach);
        assertThat(permits("directory/new", true, 0)).isTrue();
    }

    /** Returns whether the volume permits the use of a file. Opens nothing. */
    private boolean permits(String file, boolean create, long user) {
        AtomicBoolean permitted = new AtomicBoolean();
        assertThatIllegalStateException()
                .isThrownBy(() -> TestVolume.open(volume, file, 0, 8, create, (length, access) -> {
                    permitted.set(access.permits(user, true));
                    throw new IllegalStateException("enough");
                }))
                .withMessage("enough");
        return permitted.get();
    }

    /** Root may do anything, so that files of root cannot show what an owner may do: the owner is another user. */
    private static long setOwnerAndMode(Path file, String mode) {
        try {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            int own = (int) Files.getAttribute(file, "unix:uid");
            if (own != 0) {
                return Integer.toUnsignedLong(own);
            }
            Files.setAttribute(file, "unix:uid", 4711);
            return 4711;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
    void mapsTheAskedPartOfAFile(int pages, int length) throws Exception {
        byte[] content = new byte[2 * PAGE];
        content[0] = 1;
        content[PAGE] = 2;
        Files.write(root.resolve("file"), content);

        try (SharedBacking backing = TestVolume.open(volume, "file", (long) pages * PAGE, length, false)) {
            assertThat(backing.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (pages + 1));
            assertThat(backing.length()).isEqualTo(length == 0 ? (2L - pages) * PAGE : length);
        }
    }

    @Test
    void createsAZeroedFileForTheGroupAndRemovesItAtTheEnd() throws Exception {
        SharedBacking backing = TestVolume.open(volume, "new", PAGE, 100, true);

        assertThat(Files.size(root.resolve("new"))).isEqualTo(PAGE + 100L);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root.resolve("new"))))
                .isEqualTo("rw-rw----");
        assertThat(backing.segment().toArray(ValueLayout.JAVA_BYTE))
                .hasSize(100)
                .containsOnly(0);
        backing.close();
        backing.close();

        assertThat(root).isEmptyDirectory();
        assertThat(backing.verify()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> backing.segment().get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void doesNotRemoveAFileThatReplacedItsOwn() throws Exception {
        SharedBacking backing = TestVolume.open(volume, "new", 0, 100, true);
        Files.delete(root.resolve("new"));
        Files.writeString(root.resolve("new"), "the application's");

        backing.close();

        assertThat(root.resolve("new")).hasContent("the application's");
    }

    @Test
    void givesEachPageItsMemory() throws Exception {
        try (RandomAccessFile sparse =
                new RandomAccessFile(root.resolve("sparse").toFile(), "rw")) {
            sparse.setLength(64L * PAGE);
        }

        try (SharedBacking ignored = TestVolume.open(volume, "sparse", 0, 0, false)) {
            long blocks = 512 * blocks(root.resolve("sparse"));
            assertThat(blocks).isGreaterThanOrEqualTo(64L * PAGE);
        }
    }

    @Test
    void aCreatedFileHasNoMemoryInFrontOfItsPart() throws Exception {
        try (SharedBacking ignored = TestVolume.open(volume, "new", 64L * PAGE, PAGE, true)) {
            assertThat(Files.size(root.resolve("new"))).isEqualTo(65L * PAGE);
            assertThat(512 * blocks(root.resolve("new"))).isBetween((long) PAGE, 16L * PAGE);
        }
    }

    @Test
    void whatIsNotAdmittedIsNeitherCreatedNorGetsMemory() throws Exception {
        try (RandomAccessFile sparse =
                new RandomAccessFile(root.resolve("sparse").toFile(), "rw")) {
            sparse.setLength(64L * PAGE);
        }
        SharedVolume.Admission nobody = (length, access) -> {
            throw new IllegalStateException("not " + length / PAGE + " pages");
        };

        assertThatIllegalStateException()
                .isThrownBy(() -> TestVolume.open(volume, "sparse", PAGE, 0, false, nobody))
                .withMessage("not 63 pages");
        assertThatIllegalStateException()
                .isThrownBy(() -> TestVolume.open(volume, "new", PAGE, 2L * PAGE, true, nobody))
                .withMessage("not 2 pages");

        assertThat(blocks(root.resolve("sparse"))).isZero();
        assertThat(root.resolve("new")).doesNotExist();
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(descriptors.filter(this::isBelowRoot)).isEmpty();
        }
    }

    @Test
    void touchingPagesChangesNothing() throws Exception {
        byte[] content = new byte[3 * PAGE + 1];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31);
        }
        Files.write(root.resolve("file"), content);

        try (SharedBacking backing = TestVolume.open(volume, "file", 0, 0, false)) {
            assertThat(SharedVolume.touch(backing.segment())).isTrue();
            assertThat(backing.segment().mismatch(MemorySegment.ofArray(content)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void saysThatAFileIsMissing() {
        assertRefused("missing", 0, 0, false, RegionException.Reason.NOT_FOUND, "create it");
        for (boolean create : new boolean[] {true, false}) {
            assertRefused(
                    "no/file",
                    0,
                    10,
                    create,
                    RegionException.Reason.NOT_FOUND,
                    "the shared volume has no directory no for no/file; create the directory first");
        }
    }

    @Test
    void rootGivesACreatedFileToAUserAndRemovesItAllTheSame() throws Exception {
        assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")), "only for root");
        Path file = root.resolve("given");

        try (SharedBacking backing = TestVolume.open(volume, "given", 0, 10, true)) {
            assertThat(backing.giveTo(54_321, 4_000_000_000L)).isTrue();
            assertThat(backing.giveTo(54_321, 1)).isTrue();

            assertThat(Files.readAttributes(file, "unix:uid,gid,mode"))
                    .containsEntry("uid", 54_321)
                    .containsEntry("gid", (int) 4_000_000_000L)
                    .containsEntry("mode", 0100660);
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void doesNotCreateAFileThatExists() throws Exception {
        Files.writeString(root.resolve("file"), "old");

        assertRefused("file", 0, 10, true, RegionException.Reason.ALREADY_EXISTS, "another name");
        assertThat(root.resolve("file")).hasContent("old");
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 0, 1, false",
        "0, 1, 1, false",
        "0, 0, -1, false",
        "2, 0, 0, false",
        "2, 0, 1, false",
        "3, 0, 0, false",
        "1, 0, 9223372036854775807, false",
        "0, 0, 9223372036854775807, false",
        "0, 0, 0, true",
        "0, 0, -1, true",
        "1, 0, 9223372036854775807, true",
        "0, 100, 10, true"
    })
    void refusesAPartThatDoesNotFit(long pages, long octets, long length, boolean create) throws Exception {
        Files.write(root.resolve("file"), new byte[2 * PAGE]);
        long offset = pages * PAGE + octets;

        assertRefused(
                create ? "new" : "file",
                offset,
                length,
                create,
                RegionException.Reason.OUT_OF_BOUNDS,
                "offset " + Long.toUnsignedString(offset));
        assertThat(root.resolve("new")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"0, 0, needs a length of at least 1", "0, -1, less than 2^63", "-4096, 1, less than 2^63"})
    void saysWhatCannotBeOfAFileToCreate(long offset, long length, String reason) {
        assertRefused("new", offset, length, true, RegionException.Reason.OUT_OF_BOUNDS, reason);
    }

    @Test
    void refusesOneOctetBeyondTheEndOfTheFile() throws Exception {
        Files.write(root.resolve("file"), new byte[2 * PAGE]);

        assertRefused("file", 0, 2L * PAGE + 1, false, RegionException.Reason.OUT_OF_BOUNDS, "extend the file");
        assertRefused("file", PAGE, PAGE + 1L, false, RegionException.Reason.OUT_OF_BOUNDS, "extend the file");
    }

    @Test
    void anEmptyFileIsOutOfBounds() throws Exception {
        Files.createFile(root.resolve("empty"));

        assertRefused("empty", 0, 0, false, RegionException.Reason.OUT_OF_BOUNDS, "has 0 bytes");
    }

    @Test
    void saysThatThereIsNoRoomAndLeavesNoFileBehind() throws Exception {
        // Memory-backed, as the volume in a pod is; others know no file that is so long.
        Path memory = Path.of("/dev/shm");
        assumeThat(memory).isWritable();
        Path place = Files.createTempDirectory(memory, "sidewarp");
        try {
            assertThatExceptionOfType(RegionException.class)
                    .isThrownBy(() -> TestVolume.open(new SharedVolume(place), "huge", 0, 1L << 62, true))
                    .withMessageContaining("raise its size limit")
                    .extracting(RegionException::reason)
                    .isEqualTo(RegionException.Reason.NO_SPACE);
            assertThat(place).isEmptyDirectory();
        } finally {
            Files.deleteIfExists(place.resolve("huge"));
            Files.delete(place);
        }
    }

    @Test
    void saysThatTheVolumeIsMissing() {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> TestVolume.open(new SharedVolume(root.resolve("unmounted")), "file", 0, 0, false))
                .withMessageContaining("unmounted")
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.IO);
    }

    @ParameterizedTest
    @CsvSource({
        LinuxErrno.EROFS + ", NO_PERMISSION, mount it for reading and writing",
        LinuxErrno.EMFILE + ", NO_SPACE, limit of open files",
        LinuxErrno.ENOSPC + ", NO_SPACE, raise its size limit",
        LinuxErrno.EFBIG + ", OUT_OF_BOUNDS, would be longer than",
        LinuxErrno.EACCES + ", NO_PERMISSION, mode 0660"
    })
    void saysWhyTheOperatingSystemRefusesAFile(int errno, RegionException.Reason reason, String remedy) {
        assertThat(SharedVolume.failure(errno, "file", -1, "file"))
                .hasMessageContaining("file")
                .hasMessageContaining(remedy)
                .extracting(RegionException::reason)
                .isEqualTo(reason);
    }

    @Test
    void noticesThatItsFileBecameTooShort() throws Exception {
        Files.write(root.resolve("file"), new byte[2 * PAGE]);
        try (SharedBacking backing = TestVolume.open(volume, "file", PAGE, 10, false);
                RandomAccessFile file =
                        new RandomAccessFile(root.resolve("file").toFile(), "rw")) {
            assertThat(backing.verify()).isTrue();
            file.setLength(PAGE + 10L);
            assertThat(backing.verify()).isTrue();
            file.setLength(PAGE + 9L);
            assertThat(backing.verify()).isFalse();
        }
    }

    @Test
    void holdsNoDescriptorAfterwards() throws Exception {
        Files.createDirectory(root.resolve("directory"));
        Files.write(root.resolve("file"), new byte[10]);

        TestVolume.open(volume, "file", 0, 0, false).close();
        TestVolume.open(volume, "directory/new", 0, 1, true).close();
        assertRefused("directory", 0, 0, false, RegionException.Reason.NOT_A_FILE, "regular file");
        assertRefused("file", 0, 11, false, RegionException.Reason.OUT_OF_BOUNDS, "10 bytes");
        assertRefused("file", 0, 11, true, RegionException.Reason.ALREADY_EXISTS, "file");
        assertRefused("file/x", 0, 1, true, RegionException.Reason.INVALID_PATH, "not a directory");
        assertRefused("directory/missing", 0, 0, false, RegionException.Reason.NOT_FOUND, "missing");

        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(descriptors.filter(this::isBelowRoot)).isEmpty();
        }
    }

    private boolean isBelowRoot(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(root.toRealPath());
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private static long blocks(Path file) throws Exception {
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        return Long.parseLong(new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
    }

    private void assertRefused(
            String path, long offset, long length, boolean create, RegionException.Reason reason, String hint) {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() ->
                        TestVolume.open(volume, path, offset, length, create).close())
                .withMessageContaining(hint)
                .extracting(RegionException::reason)
                .isEqualTo(reason);
    }
}
