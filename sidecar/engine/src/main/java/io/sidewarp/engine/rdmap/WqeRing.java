// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Elements on their way between threads, first in first out: any thread puts, any thread takes, without locks and
 * without allocation. Each place has a turn: that of the put or take which may use it next.
 */
final class WqeRing {

    private final int mask;
    private final @Nullable Wqe[] elements;
    private final AtomicLongArray turns;
    private final AtomicLong puts = new AtomicLong();
    private final AtomicLong takes = new AtomicLong();

    /** @param capacity elements that it has room for, at least 1 */
    WqeRing(int capacity) {
        // One place would not tell a full ring from an empty one.
        int highest = Integer.highestOneBit(Math.max(2, capacity));
        int size = highest >= capacity ? highest : highest << 1;
        mask = size - 1;
        elements = new Wqe[size];
        turns = new AtomicLongArray(size);
        for (int i = 0; i < size; i++) {
            turns.set(i, i);
        }
    }

    /** Puts an element; the caller knows that there is room. */
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
                // The take that frees this place has begun and will end soon.
                Thread.onSpinWait();
            }
        }
    }

    /** Takes the oldest element, or null when there is none. */
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

    /** Elements in it, give or take those that are on the move. */
    int size() {
        return (int) Math.max(0, puts.get() - takes.get());
    }
}
