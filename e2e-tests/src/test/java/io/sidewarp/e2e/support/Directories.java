// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Directories that are deleted after the tests, even if tests fail. */
public final class Directories {

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final Map<Path, TestResource> TEMPORARY = new ConcurrentHashMap<>();

    private Directories() {}

    /** A new directory with a short name, as the paths of Unix sockets need. */
    public static Path temporary(String name) {
        return create(Path.of(System.getProperty("java.io.tmpdir")), name);
    }

    /** A new directory in memory, where there is a file system for that. */
    public static Path inMemory(String name) {
        return create(Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir")), name);
    }

    private static Path create(Path parent, String name) {
        try {
            Path directory = Files.createTempDirectory(parent, "sidewarp-" + name + "-");
            TEMPORARY.put(directory, TestResource.of(() -> deleteAll(directory)));
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes a directory with all that is in it; one that is gone already is fine. */
    public static void delete(Path directory) {
        TestResource remains = TEMPORARY.remove(directory);
        if (remains == null) {
            deleteAll(directory);
        } else {
            remains.close();
        }
    }

    private static void deleteAll(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
