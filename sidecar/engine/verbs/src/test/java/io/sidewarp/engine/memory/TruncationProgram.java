// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Truncates the files of regions during copies that run in compiled code. Runs in its own process, because an error may
 * end the virtual machine. Prints a line for each failed case, then "done" and the number of cases.
 *
 * <p>Arguments: directory, copies before the truncation.
 */
final class TruncationProgram {

    private static final int LENGTH = 1 << 20;
    private static final int[] SIZES = {1, 2, 7, 8, 15, 32, 63, 64, 65, 200, 1460, 4096, 65_536};

    private final SharedVolume volume;
    private final Path directory;
    private final int warmUp;
    private volatile boolean truncated;

    private TruncationProgram(Path directory, int warmUp) {
        this.volume = new SharedVolume(directory);
        this.directory = directory;
        this.warmUp = warmUp;
    }

    /** Ways to copy, each in its own loop, so that the compiler sees only one way. */
    private enum Kind {
        PLACE,
        PLACE_CALLED,
        PLACE_FROM_HEAP,
        FETCH,
        FETCH_CALLED,
        FETCH_TO_HEAP,
        TOUCH,
        /** A word, so that it has one size. */
        ATOMIC
    }

    private static final Set<Kind> OF_ALL_SIZES = EnumSet.complementOf(EnumSet.of(Kind.ATOMIC));

    public static void main(String[] args) throws Exception {
        TruncationProgram program = new TruncationProgram(Path.of(args[0]), Integer.parseInt(args[1]));
        int cases = 0;
        for (int size : SIZES) {
            for (Kind kind : OF_ALL_SIZES) {
                program.check(kind, size);
                cases++;
            }
        }
        program.check(Kind.ATOMIC, Long.BYTES);
        cases++;
        System.out.println("done " + cases);
        System.exit(0);
    }

    private void check(Kind kind, int size) throws Exception {
        String name = kind + "-" + size;
        truncated = false;
        MemoryManager manager = new MemoryManager(new StagTable(2), () -> CompletableFuture.completedFuture(null));
        MemoryRegion region = manager.register(
                new Pd(1), TestVolume.open(volume, name, 0, LENGTH, true), new RegionAttributes(Set.of(), 0), 0);
        CountDownLatch warm = new CountDownLatch(1);
        FutureTask<String> copies = new FutureTask<>(() -> outcome(kind, region, size, warm));
        Thread thread = new Thread(copies, name);
        thread.setDaemon(true);
        thread.start();
        if (!warm.await(60, TimeUnit.SECONDS)) {
            System.out.println(name + ": does not warm up");
        }
        truncate(name);
        truncated = true;
        String outcome = copies.get(60, TimeUnit.SECONDS);
        RegionState expected = kind == Kind.TOUCH ? RegionState.VALID : RegionState.FAULTED;
        if (!outcome.equals("fault") || region.state() != expected || region.verifyBacking()) {
            System.out.println(name + ": " + outcome + ", " + region);
        }
        manager.deregister(region).get(60, TimeUnit.SECONDS);
    }

    private void truncate(String name) throws IOException {
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve(name).toFile(), "rw")) {
            file.setLength(0);
        }
    }

    /** "fault" when the error came out of the copy that met it; otherwise what happened instead. */
    private String outcome(Kind kind, MemoryRegion region, int size, CountDownLatch warm) {
        try {
            return switch (kind) {
                case PLACE -> place(region, size, warm);
                case PLACE_CALLED -> placeCalled(region, size, warm);
                case PLACE_FROM_HEAP -> placeFromHeap(region, size, warm);
                case FETCH -> fetch(region, size, warm);
                case FETCH_CALLED -> fetchCalled(region, size, warm);
                case FETCH_TO_HEAP -> fetchToHeap(region, size, warm);
                case TOUCH -> touch(region, warm);
                case ATOMIC -> atomic(region, warm);
            };
        } catch (Throwable e) {
            return "late " + e;
        }
    }

    private String place(MemoryRegion region, int size, CountDownLatch warm) {
        WireBuffer buffer = WireBuffer.allocate(size);
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            try {
                region.place(offset(i, size), buffer, 0, size);
            } catch (RegionFault e) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i, warm);
        }
    }

    private String placeCalled(MemoryRegion region, int size, CountDownLatch warm) {
        WireBuffer buffer = WireBuffer.allocate(size);
        try {
            for (int i = 0; ; i++) {
                boolean gone = truncated;
                placeOne(region, offset(i, size), buffer, size);
                if (gone) {
                    return "unnoticed";
                }
                count(i, warm);
            }
        } catch (RegionFault e) {
            return "fault";
        }
    }

    private static void placeOne(MemoryRegion region, long offset, WireBuffer buffer, int size) throws RegionFault {
        region.place(offset, buffer, 0, size);
    }

    private String placeFromHeap(MemoryRegion region, int size, CountDownLatch warm) {
        MemorySegment source = MemorySegment.ofArray(new byte[size]);
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            try {
                region.place(offset(i, size), source, 0, size);
            } catch (RegionFault e) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i, warm);
        }
    }

    private String fetch(MemoryRegion region, int size, CountDownLatch warm) {
        WireBuffer buffer = WireBuffer.allocate(size);
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            try {
                region.fetch(offset(i, size), buffer, 0, size);
            } catch (RegionFault e) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i, warm);
        }
    }

    private String fetchCalled(MemoryRegion region, int size, CountDownLatch warm) {
        WireBuffer buffer = WireBuffer.allocate(size);
        try {
            for (int i = 0; ; i++) {
                boolean gone = truncated;
                fetchOne(region, offset(i, size), buffer, size);
                if (gone) {
                    return "unnoticed";
                }
                count(i, warm);
            }
        } catch (RegionFault e) {
            return "fault";
        }
    }

    private static void fetchOne(MemoryRegion region, long offset, WireBuffer buffer, int size) throws RegionFault {
        region.fetch(offset, buffer, 0, size);
    }

    private String fetchToHeap(MemoryRegion region, int size, CountDownLatch warm) {
        MemorySegment target = MemorySegment.ofArray(new byte[size]);
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            try {
                region.fetch(offset(i, size), target, 0, size);
            } catch (RegionFault e) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i, warm);
        }
    }

    private String touch(MemoryRegion region, CountDownLatch warm) {
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            if (!SharedVolume.touch(region.segment())) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i * 256, warm);
        }
    }

    private String atomic(MemoryRegion region, CountDownLatch warm) {
        AtomicUnit unit = new AtomicUnit();
        for (int i = 0; ; i++) {
            boolean gone = truncated;
            try {
                unit.fetchAdd(region, offset(i, Long.BYTES), 1, 0);
            } catch (RegionFault e) {
                return "fault";
            }
            if (gone) {
                return "unnoticed";
            }
            count(i, warm);
        }
    }

    private static long offset(int copy, int size) {
        return (long) (copy % (LENGTH / size)) * size;
    }

    private void count(int copy, CountDownLatch warm) {
        if (copy >= warmUp) {
            warm.countDown();
        }
    }
}
