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
 * A directory that is deleted when it is closed. A process that is killed closes nothing: what such a one has left is deleted
 * when the next directory of the same kind is made. That it is in use a lock tells, which the system takes from the dead.
 */
final class ScratchDirectory implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ScratchDirectory.class.getName());
    private static final String LOCK = "lock";

    /** Younger ones may be about to be locked. */
    private static final Duration AGE = Duration.ofMinutes(1);

    /** Those of this process, whose locks it must not try: POSIX would give them up when the second channel is closed. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lock;

    private ScratchDirectory(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Makes one.
     *
     * @param parent directory that it is made in
     * @param prefix beginning of its name, the same for all of its kind and for nothing else
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
                // Another user's, or another process deletes it, too.
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

    /** Where it is. */
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
