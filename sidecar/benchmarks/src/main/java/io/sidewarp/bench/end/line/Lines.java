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
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Two counters in memory that two processes share: one there, one back, each in a cache line of its own. */
final class Lines implements AutoCloseable {

    private static final VarHandle COUNTER = ValueLayout.JAVA_LONG.varHandle();
    private static final long THERE = 0;
    private static final long BACK = 256;
    private static final long LENGTH = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    private Lines(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** Those of the passive end in the process with this number. */
    static Lines of(int process) throws IOException {
        return new Lines(file(process));
    }

    /** Forgets the name of what {@link #of} opened. */
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
