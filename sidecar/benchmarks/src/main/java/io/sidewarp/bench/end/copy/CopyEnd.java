// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.copy;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies one buffer to another over and over by {@link MemorySegment#copy}; a message is the whole buffer. The copy is
 * warm if both buffers fit into the processor's caches, and cold if they are much larger.
 */
public final class CopyEnd implements ActiveEnd {

    private static final long PAGE = 4096;

    private @Nullable Buffers buffers;

    private record Buffers(Arena arena, MemorySegment from, MemorySegment to) {}

    @Override
    public void connect(TransferPlan plan, int port) {
        Arena arena = Arena.ofShared();
        MemorySegment from = arena.allocate(plan.size(), PAGE).fill((byte) 1);
        buffers = new Buffers(arena, from, arena.allocate(plan.size(), PAGE).fill((byte) 2));
    }

    @Override
    public DutyOutcome run(long nanos) {
        Buffers both = buffers;
        if (both == null) {
            throw new IllegalStateException("not connected");
        }
        long begin = System.nanoTime();
        long copies = 0;
        long elapsed;
        do {
            MemorySegment.copy(both.from, 0, both.to, 0, both.from.byteSize());
            copies++;
            elapsed = System.nanoTime() - begin;
        } while (elapsed < nanos);
        return DutyOutcome.stream(elapsed, copies);
    }

    @Override
    public void close() {
        if (buffers != null) {
            buffers.arena.close();
            buffers = null;
        }
    }

    /** The other end, which has nothing to do. */
    public static final class Idle implements PassiveEnd {

        @Override
        public int listen(TransferPlan plan) {
            return 0;
        }

        @Override
        public void close() {}
    }
}
