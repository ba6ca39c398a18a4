// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.conformance.Requirement;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that only regular files of the volume become regions. */
@Timeout(60)
@Requirement("DDP-8.3-02")
class ConfinementTest {

    @TempDir
    private Path directory;

    private Path root;
    private Path outside;
    private SharedVolume volume;

    @BeforeEach
    void prepare() throws IOException {
        root = Files.createDirectories(directory.resolve("volume"));
        outside = Files.createDirectories(directory.resolve("outside/inner"));
        Files.write(directory.resolve("secret"), new byte[20]);
        Files.write(outside.resolve("file"), new byte[20]);
        Files.write(outside.getParent().resolve("file"), new byte[20]);
        Files.write(root.resolve("file"), new byte[10]);
        Files.createDirectories(root.resolve("sub/inner"));
        Files.write(root.resolve("sub/inner/file"), new byte[10]);
        volume = new SharedVolume(root);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                ".",
                "..",
                "../secret",
                "/etc/hostname",
                "sub/../file",
                "sub/../../secret",
                "sub/..",
                "./file",
                "sub/./inner/file",
                "sub//inner/file",
                "file/",
                "//file",
                "fi\0le",
                "sub/\0/file"
            })
    void aPathThatIsNotAPlainChainOfNamesIsRefused(String path) {
        assertRefused(path, RegionException.Reason.INVALID_PATH);
        assertRefusedToCreate(path, RegionException.Reason.INVALID_PATH);
    }

    @Test
    void anOverlongNameOrPathIsRefused() {
        assertRefused("n".repeat(256), RegionException.Reason.INVALID_PATH);
        assertRefused("é".repeat(128), RegionException.Reason.INVALID_PATH);
        assertRefused("sub/".repeat(1024) + "file", RegionException.Reason.INVALID_PATH);
        assertRefused("n".repeat(255), RegionException.Reason.NOT_FOUND);
    }

    @Test
    void aSymbolicLinkIsRefusedAtEachLevel() throws IOException {
        Files.createSymbolicLink(root.resolve("link"), outside.getParent());
        Files.createSymbolicLink(root.resolve("sub/link"), outside);
        Files.createSymbolicLink(root.resolve("sub/inner/link"), directory.resolve("secret"));

        for (String path : new String[] {"link/inner/file", "link/file", "sub/link/file", "sub/inner/link"}) {
            assertRefused(path, RegionException.Reason.INVALID_PATH);
        }
        assertRefusedToCreate("link/new", RegionException.Reason.INVALID_PATH);
        assertRefusedToCreate("sub/link/new", RegionException.Reason.INVALID_PATH);
        assertRefusedToCreate("sub/inner/link", RegionException.Reason.ALREADY_EXISTS);
        assertThat(outside.resolve("new")).doesNotExist();
    }

    @Test
    void aSymbolicLinkInsideOfTheVolumeIsRefusedToo() throws IOException {
        Files.createSymbolicLink(root.resolve("alias"), Path.of("file"));
        Files.createSymbolicLink(root.resolve("dangling"), Path.of("nothing"));

        assertRefused("alias", RegionException.Reason.INVALID_PATH);
        assertRefused("dangling", RegionException.Reason.INVALID_PATH);
        assertRefusedToCreate("dangling", RegionException.Reason.ALREADY_EXISTS);
        assertThat(root.resolve("nothing")).doesNotExist();
    }

    @Test
    void theVolumeItselfMayBeNamedThroughALink() throws IOException {
        Files.createSymbolicLink(directory.resolve("mounted"), root);

        SharedBacking backing = TestVolume.open(new SharedVolume(directory.resolve("mounted")), "file", 0, 0, false);

        assertThat(backing.length()).isEqualTo(10);
        backing.close();
    }

    @Test
    void aDirectoryIsNotAFile() {
        assertRefused("sub", RegionException.Reason.NOT_A_FILE);
        assertRefused("sub/inner", RegionException.Reason.NOT_A_FILE);
        assertRefused("file/x", RegionException.Reason.INVALID_PATH);
    }

    @Test
    void aPipeIsRefusedWithoutWaitingForItsOtherEnd() throws Exception {
        Process mkfifo = new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start();
        assertThat(mkfifo.waitFor()).isZero();

        assertRefused("pipe", RegionException.Reason.NOT_A_FILE);
        assertRefused("pipe/file", RegionException.Reason.INVALID_PATH);
    }

    @Test
    void aSocketIsRefused() throws IOException {
        // The limit for a socket's path is short: so not below the directory of the test.
        Path place = Files.createTempDirectory("sw");
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(place.resolve("s")));

            assertThatExceptionOfType(RegionException.class)
                    .isThrownBy(() -> TestVolume.open(new SharedVolume(place), "s", 0, 0, false))
                    .extracting(RegionException::reason)
                    .isEqualTo(RegionException.Reason.NOT_A_FILE);
        } finally {
            Files.deleteIfExists(place.resolve("s"));
            Files.delete(place);
        }
    }

    @Test
    void aDirectoryThatTurnsIntoALinkMeanwhileLeadsNowhereElse() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Set<RegionException.Reason> refusals = EnumSet.noneOf(RegionException.Reason.class);
        try (ExecutorService attacker = Executors.newSingleThreadExecutor()) {
            Future<Integer> swaps = attacker.submit(() -> swapUntil(done));
            int opened = 0;
            for (int i = 0; i < 5_000; i++) {
                try (SharedBacking backing = TestVolume.open(volume, "sub/inner/file", 0, 0, false)) {
                    assertThat(backing.length()).isEqualTo(10);
                    opened++;
                } catch (RegionException e) {
                    refusals.add(e.reason());
                }
            }
            done.set(true);

            assertThat(swaps.get(30, TimeUnit.SECONDS)).isPositive();
            assertThat(opened).isPositive();
            assertThat(refusals).isSubsetOf(RegionException.Reason.INVALID_PATH, RegionException.Reason.NOT_FOUND);
        }
    }

    /** Puts a link to the directory outside in the place of the real one, and back. */
    private int swapUntil(AtomicBoolean done) throws IOException {
        Path name = root.resolve("sub");
        Path aside = root.resolve("aside");
        int swaps = 0;
        do {
            Files.move(name, aside);
            Files.createSymbolicLink(name, outside.getParent());
            Files.delete(name);
            Files.move(aside, name);
            swaps++;
        } while (!done.get());
        return swaps;
    }

    private void assertRefused(String path, RegionException.Reason reason) {
        assertRefused(path, 0, false, reason);
    }

    private void assertRefusedToCreate(String path, RegionException.Reason reason) {
        assertRefused(path, 10, true, reason);
    }

    private void assertRefused(String path, long length, boolean create, RegionException.Reason reason) {
        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(
                        () -> TestVolume.open(volume, path, 0, length, create).close())
                .extracting(RegionException::reason)
                .isEqualTo(reason);
    }
}
