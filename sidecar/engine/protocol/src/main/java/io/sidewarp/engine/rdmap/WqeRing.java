// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * First-in, first-out ring that passes elements between threads. Any thread puts and any thread takes, without locks
 * and without allocation. Each slot has a turn, which tells the put or take that may use the slot next.
 */
final class WqeRing {

    private final int mask;
    private final @Nullable Wqe[] elements;
    private final AtomicLongArray turns;
    private final AtomicLong puts = new AtomicLong();
    private final AtomicLong takes = new AtomicLong();

    /** @param capacity elements that the ring has room for, at least 1 */
    WqeRing(int capacity) {
        // With one slot, a full ring would look like an empty ring.
        int highest = Integer.highestOneBit(Math.max(2, capacity));
        int size = highest >= capacity ? highest : highest << 1;
        mask = size - 1;
        elements = new Wqe[size];
        turns = new AtomicLongArray(size);
        for (int i = 0; i < size; i++) {
            turns.set(i, i);
        }
    }

    /** Puts an element. The caller must know that the ring has room. */
    void put(Wqe wqe) {
        while (true) {
            long sequence = puts.get();
            int place = (int) sequence & mask;
            if (turns.getAcquire(place) == sequence) {
                if (puts.compareAndSet(sequence, sequence + 1)) {
                    elements[place] = wqe;
                    turns.setRelease(place, sequence + 1);
                    return;
                }
            } else {
                // The take that frees this slot has begun and will end soon.
                Thread.onSpinWait();
            }
        }
    }

    /** Takes the oldest element, or returns null when the ring is empty. */
    @Nullable
    Wqe take() {
        while (true) {
            long sequence = takes.get();
            int place = (int) sequence & mask;
            long turn = turns.getAcquire(place);
            if (turn <= sequence) {
                return null;
            }
            if (turn == sequence + 1 && takes.compareAndSet(sequence, sequence + 1)) {
                Wqe wqe = elements[place];
                elements[place] = null;
                turns.setRelease(place, sequence + mask + 1);
                return wqe;
            }
        }
    }

    /** Approximate number of elements in the ring, because puts and takes may be in progress. */
    int size() {
        return (int) Math.max(0, puts.get() - takes.get());
    }
}
