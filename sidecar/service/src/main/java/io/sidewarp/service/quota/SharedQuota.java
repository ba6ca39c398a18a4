// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits holders of a shared resource to fair shares: nobody may hold more than remains free for the others. The first
 * holder may take at most half of the limit, the next one half of the rest. Thread-safe.
 *
 * @param <H> key that identifies a holder
 */
public final class SharedQuota<H> {

    private final long limit;
    private final Map<H, Long> uses = new HashMap<>();
    private long used;

    public SharedQuota(long limit) {
        this.limit = limit;
    }

    /** Takes an amount. Returns false, and takes nothing, if the holder's fair share would be exceeded. */
    public boolean take(H holder, long amount) {
        return take(holder, amount, -amount);
    }

    /**
     * Takes an amount for one part of a holder. Parts of a holder are limited to fair shares in the same way.
     *
     * @param own amount that this part holds already
     */
    public synchronized boolean take(H holder, long amount, long own) {
        // An amount above the limit could overflow the rest of the condition.
        if (amount > limit || own + amount > limit - used - used(holder) - 2 * amount) {
            return false;
        }
        uses.merge(holder, amount, Long::sum);
        used += amount;
        return true;
    }

    /**
     * Returns the largest amount that one part of a holder may have now, in small steps.
     *
     * @param own amount that this part holds already
     */
    public synchronized long share(H holder, long own) {
        return Math.max(0, (limit - (used - own) - (used(holder) - own)) / 3);
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

    /** Returns the amount that one holder has. */
    public synchronized long used(H holder) {
        return uses.getOrDefault(holder, 0L);
    }

    public long limit() {
        return limit;
    }
}
