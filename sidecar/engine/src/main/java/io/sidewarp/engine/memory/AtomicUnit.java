// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * Carries out the atomic operations of a device, one at a time, so that each is atomic with respect to all others of the
 * same device (RFC 7306 section 5.3). Two regions may stand for the same pages, so the lock cannot be one of a region or
 * an address. Words are loaded and stored in the byte order of this machine. Thread-safe; allocates nothing.
 */
public final class AtomicUnit {

    /**
     * FetchAdd (RFC 7306 section 5.1.1): adds field by field. The caller has checked state, rights, bounds and alignment.
     *
     * @param offset bytes from the beginning of the region
     * @param mask the most significant bit of each field; 0 for one field of 64 bits
     * @return the value before
     * @throws RegionFault when the backing is gone
     */
    public synchronized long fetchAdd(MemoryRegion region, long offset, long add, long mask) throws RegionFault {
        long original = region.loadWord(offset);
        region.storeWord(offset, addFields(original, add, mask));
        return original;
    }

    /**
     * CmpSwap (RFC 7306 section 5.1.2): replaces the bits of the swap mask if the bits of the compare mask are equal.
     * Otherwise as {@link #fetchAdd}.
     */
    public synchronized long compareSwap(
            MemoryRegion region, long offset, long compare, long compareMask, long swap, long swapMask)
            throws RegionFault {
        long original = region.loadWord(offset);
        if (((compare ^ original) & compareMask) == 0) {
            region.storeWord(offset, (original & ~swapMask) | (swap & swapMask));
        }
        return original;
    }

    /**
     * Adds independent fields: the bits below the top of each field are added without their neighbours' tops, so that
     * nothing is carried over a top, and the tops are added without carry.
     */
    static long addFields(long value, long add, long tops) {
        return ((value & ~tops) + (add & ~tops)) ^ ((value ^ add) & tops);
    }
}
