// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.line;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Two counters in memory that two processes share: one there, one back, each in a cache line of its own. */
final class Lines implements AutoCloseable {

    private static final VarHandle COUNTER = ValueLayout.JAVA_LONG.varHandle();
    private static final long THERE = 0;
    private static final long BACK = 256;
    private static final long LENGTH = 4096;
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    private Lines(int process, OpenOption... options) throws IOException {
        Set<OpenOption> all = new HashSet<>(List.of(options));
        all.addAll(List.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        try (FileChannel channel = FileChannel.open(file(process), all, OWNER_ONLY)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Creates the counters of the passive end in the process with this number. Never opens an existing file or link.
     */
    static Lines create(int process) throws IOException {
        forget(process);
        return new Lines(process, StandardOpenOption.CREATE_NEW);
    }

    /** Opens the counters that the process with this number has created. */
    static Lines open(int process) throws IOException {
        return new Lines(process);
    }

    /** Deletes the name of the file that {@link #create} created. */
    static void forget(int process) throws IOException {
        Files.deleteIfExists(file(process));
    }

    private static Path file(int process) {
        return Path.of(System.getProperty("java.io.tmpdir"), "sidewarp-bench-lines-" + process);
    }

    long there() {
        return (long) COUNTER.getAcquire(memory, THERE);
    }

    void there(long count) {
        COUNTER.setRelease(memory, THERE, count);
    }

    long back() {
        return (long) COUNTER.getAcquire(memory, BACK);
    }

    void back(long count) {
        COUNTER.setRelease(memory, BACK, count);
    }

    @Override
    public void close() {
        arena.close();
    }
}
