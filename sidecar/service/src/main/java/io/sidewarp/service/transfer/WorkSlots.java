// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of the outstanding work on one connection, by slot number. The slot is the engine's work request id, so a
 * completion finds its origin without a map. Grows to the depth that is used, and allocates nothing once warm. Confined
 * to the session's thread.
 */
final class WorkSlots {

    private static final int INITIAL = 16;
    private static final int NONE = -1;

    private @Nullable CompletionTarget[] sinks = new CompletionTarget[INITIAL];
    private long[] ids = new long[INITIAL];
    /** System.nanoTime() of the post, or 0 if the latency is not measured. */
    private long[] times = new long[INITIAL];

    private boolean[] signaled = new boolean[INITIAL];
    private boolean[] receives = new boolean[INITIAL];
    private int[] next = new int[INITIAL];
    private int free = NONE;

    WorkSlots() {
        addFree(0, INITIAL);
    }

    int take(CompletionTarget sink, long id, boolean isSignaled, boolean isReceive, long time) {
        if (free == NONE) {
            grow();
        }
        int slot = free;
        free = next[slot];
        sinks[slot] = sink;
        ids[slot] = id;
        signaled[slot] = isSignaled;
        receives[slot] = isReceive;
        times[slot] = time;
        return slot;
    }

    void give(int slot) {
        if (sinks[slot] == null) {
            throw new IllegalStateException("slot " + slot + " is free");
        }
        sinks[slot] = null;
        next[slot] = free;
        free = slot;
    }

    boolean isTaken(long slot) {
        return slot >= 0 && slot < sinks.length && sinks[(int) slot] != null;
    }

    CompletionTarget sink(int slot) {
        return Objects.requireNonNull(sinks[slot]);
    }

    long id(int slot) {
        return ids[slot];
    }

    long time(int slot) {
        return times[slot];
    }

    boolean isSignaled(int slot) {
        return signaled[slot];
    }

    boolean isReceive(int slot) {
        return receives[slot];
    }

    int capacity() {
        return sinks.length;
    }

    private void grow() {
        int old = sinks.length;
        int size = old * 2;
        sinks = Arrays.copyOf(sinks, size);
        ids = Arrays.copyOf(ids, size);
        times = Arrays.copyOf(times, size);
        signaled = Arrays.copyOf(signaled, size);
        receives = Arrays.copyOf(receives, size);
        next = Arrays.copyOf(next, size);
        addFree(old, size);
    }

    private void addFree(int from, int to) {
        for (int slot = to - 1; slot >= from; slot--) {
            next[slot] = free;
            free = slot;
        }
    }
}
