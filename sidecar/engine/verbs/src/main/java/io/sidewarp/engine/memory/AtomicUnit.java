// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * Carries out the atomic operations of a device, one at a time. Each operation is atomic with respect to all others of
 * the same device (RFC 7306 section 5.3). Two regions may cover the same pages, so a lock per region or per address is
 * not enough. Words are loaded and stored in the byte order of this machine. Thread-safe. Allocates nothing.
 */
public final class AtomicUnit {

    /**
     * Carries out a FetchAdd (RFC 7306 section 5.1.1), which adds field by field. The caller has checked state, rights,
     * bounds and alignment.
     *
     * @param offset bytes from the beginning of the region
     * @param mask most significant bit of each field; 0 for one field of 64 bits
     * @return the previous value
     * @throws RegionFault when the backing is gone
     */
    public synchronized long fetchAdd(MemoryRegion region, long offset, long add, long mask) throws RegionFault {
        long original = region.loadWord(offset);
        region.storeWord(offset, addFields(original, add, mask));
        return original;
    }

    /**
     * Carries out a CmpSwap (RFC 7306 section 5.1.2). Replaces the bits of the swap mask if the bits of the compare
     * mask are equal. In other respects the method behaves as {@link #fetchAdd}.
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
     * Adds independent fields. First adds the bits below the top bit of each field, with all top bits cleared, so that
     * no carry leaves a field. Then adds the top bits without carry.
     */
    static long addFields(long value, long add, long tops) {
        return ((value & ~tops) + (add & ~tops)) ^ ((value ^ add) & tops);
    }
}
