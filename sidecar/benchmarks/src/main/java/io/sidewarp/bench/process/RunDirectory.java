// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Directory for logs and other files. It is deleted when this object is closed, or at the end of this process, even if
 * the process is interrupted.
 */
public record RunDirectory(Path path) implements AutoCloseable {

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "sidewarp-bench-";

    /** Makes a directory for temporary files. */
    public static RunDirectory create() {
        return create(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** Makes a directory in memory if possible. */
    static RunDirectory createInMemory() {
        return Files.isWritable(MEMORY) ? create(MEMORY) : create();
    }

    private static RunDirectory create(Path parent) {
        try {
            Path path = Files.createTempDirectory(parent, PREFIX);
            Children.adopt(path, () -> delete(path));
            return new RunDirectory(path);
        } catch (IOException e) {
            throw new Failure(
                    ExitCode.CANNOT_CREATE, "cannot create a directory in " + parent + ": " + e.getMessage(), e);
        }
    }

    /** Returns whether a signal told this process to end. Later failures are then consequences of the signal. */
    public static boolean isRunEnding() {
        return Children.areEnding();
    }

    /** Keeps the directory after a failure, since its logs explain the failure. */
    public void keep() {
        Children.forget(path);
    }

    /** Deletes a directory with its content. Other processes may delete files in it at the same time. */
    private static void delete(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    @Override
    public void close() {
        try {
            Children.remove(path);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove " + path + ": " + e.getMessage(), e);
        }
    }
}
