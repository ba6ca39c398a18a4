// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A directory that is deleted when it is closed. A killed process closes nothing. Its directories are deleted when the
 * next directory with the same prefix is made. A lock marks a directory as in use; the system releases the lock when
 * the process dies.
 */
final class ScratchDirectory implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ScratchDirectory.class.getName());
    private static final String LOCK = "lock";

    /** Minimum age of a left-over directory; the lock of a younger one may not be taken yet. */
    private static final Duration AGE = Duration.ofMinutes(1);

    /**
     * Directories of this process. Their locks must not be tried: POSIX releases them when the second channel is
     * closed.
     */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lock;

    private ScratchDirectory(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Makes a directory, and deletes left-over directories with the same prefix.
     *
     * @param parent directory in which it is made
     * @param prefix beginning of its name, which no files of other kinds have
     */
    static ScratchDirectory create(Path parent, String prefix) throws IOException {
        deleteLeftOver(parent, prefix);
        Path path = Files.createTempDirectory(parent, prefix);
        FileChannel lock = FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        lock.lock();
        OWN.add(path);
        return new ScratchDirectory(path, lock);
    }

    private static void deleteLeftOver(Path parent, String prefix) throws IOException {
        List<Path> all;
        try (Stream<Path> entries = Files.list(parent)) {
            all = entries.filter(entry -> entry.getFileName().toString().startsWith(prefix))
                    .toList();
        }
        for (Path directory : all) {
            try {
                if (isLeftOver(directory)) {
                    delete(directory);
                }
            } catch (IOException | UncheckedIOException e) {
                // The directory belongs to another user, or another process deletes it, too.
                LOG.log(System.Logger.Level.DEBUG, "{0} stays: {1}", directory, e);
            }
        }
    }

    private static boolean isLeftOver(Path directory) throws IOException {
        if (OWN.contains(directory)
                || Files.getLastModifiedTime(directory).toInstant().plus(AGE).isAfter(Instant.now())) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
                @Nullable FileLock free = channel.tryLock()) {
            return free != null;
        } catch (NoSuchFileException e) {
            return true;
        }
    }

    /** Returns the path of the directory. */
    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            delete(path);
            lock.close();
            OWN.remove(path);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + path, e);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
