// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts what several holders take of something that they share. None may hold more than it leaves to the others: alone
 * it gets half, and one that comes later half of the rest. Thread-safe.
 *
 * @param <H> what tells holders apart
 */
public final class SharedQuota<H> {

    private final long limit;
    private final Map<H, Long> uses = new HashMap<>();
    private long used;

    public SharedQuota(long limit) {
        this.limit = limit;
    }

    /** Takes an amount; false when that would be more than the holder may have, and then nothing is taken. */
    public boolean take(H holder, long amount) {
        return take(holder, amount, -amount);
    }

    /**
     * Takes an amount for one of those who share what the holder has, in the same way.
     *
     * @param own what that one has of it
     */
    public synchronized boolean take(H holder, long amount, long own) {
        // Of an amount beyond the limit the rest could overflow.
        if (amount > limit || own + amount > limit - used - used(holder) - 2 * amount) {
            return false;
        }
        uses.merge(holder, amount, Long::sum);
        used += amount;
        return true;
    }

    /** Gives an amount back. */
    public synchronized void give(H holder, long amount) {
        long left = used(holder) - amount;
        if (left < 0) {
            throw new IllegalStateException("more given back than taken");
        }
        if (left == 0) {
            uses.remove(holder);
        } else {
            uses.put(holder, left);
        }
        used -= amount;
    }

    /** What one holder has. */
    public synchronized long used(H holder) {
        return uses.getOrDefault(holder, 0L);
    }

    public long limit() {
        return limit;
    }
}
