// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Scatter/gather elements of one work queue element, which together hold a message. Grows once and then allocates
 * nothing.
 */
final class GatherList {

    private @Nullable MemoryRegion[] regions = new MemoryRegion[1];
    private long[] offsets = new long[1];
    private long[] lengths = new long[1];
    private int count;
    private long length;

    /** Element that a transfer reached last, and the message offset of its first byte. */
    private int cursor;

    private long cursorBase;

    /** Drops all elements, so that the list keeps no region alive. */
    void clear() {
        for (int i = 0; i < count; i++) {
            regions[i] = null;
        }
        count = 0;
        length = 0;
        cursor = 0;
        cursorBase = 0;
    }

    /** Adds a part of a region. The caller has checked that the part lies in the region. */
    void add(MemoryRegion region, long offset, long octets) {
        if (count == regions.length) {
            int grown = count * 2;
            regions = Arrays.copyOf(regions, grown);
            offsets = Arrays.copyOf(offsets, grown);
            lengths = Arrays.copyOf(lengths, grown);
        }
        regions[count] = region;
        offsets[count] = offset;
        lengths[count] = octets;
        count++;
        length += octets;
    }

    /** Returns the bytes of all elements. */
    long length() {
        return length;
    }

    /** Returns the region of the first element, or null without elements. */
    @Nullable
    MemoryRegion first() {
        return count == 0 ? null : regions[0];
    }

    /** Returns the offset of the first element in its region. */
    long firstOffset() {
        return offsets[0];
    }

    /** Returns the first region that is no longer valid, or null. */
    @Nullable
    MemoryRegion unusable() {
        for (int i = 0; i < count; i++) {
            MemoryRegion region = regions[i];
            if (region != null && !region.isValid()) {
                return region;
            }
        }
        return null;
    }

    /** Returns whether an element lies in a region. */
    boolean contains(@Nullable MemoryRegion region) {
        for (int i = 0; i < count; i++) {
            if (regions[i] == region) {
                return true;
            }
        }
        return false;
    }

    /**
     * Copies bytes between the regions and a buffer.
     *
     * @param fetch true from the regions into the buffer, false into the regions
     */
    void transfer(long messageOffset, WireBuffer buffer, int bufferOffset, int octets, boolean fetch)
            throws RegionFault {
        seek(messageOffset);
        long at = messageOffset - cursorBase;
        int moved = 0;
        while (moved < octets) {
            while (at == lengths[cursor]) {
                cursorBase += lengths[cursor++];
                at = 0;
            }
            int part = (int) Math.min(octets - moved, lengths[cursor] - at);
            MemoryRegion region = regions[cursor];
            if (region == null) {
                throw new IllegalStateException("work queue element without region");
            }
            if (!region.isValid()) {
                throw SendWork.unusable(region);
            }
            if (fetch) {
                region.fetch(offsets[cursor] + at, buffer, bufferOffset + moved, part);
            } else {
                region.place(offsets[cursor] + at, buffer, bufferOffset + moved, part);
            }
            moved += part;
            at += part;
        }
    }

    /**
     * Moves the cursor to the element that holds an offset. Offsets usually advance, so this usually takes one step.
     */
    private void seek(long messageOffset) {
        if (messageOffset < cursorBase) {
            cursor = 0;
            cursorBase = 0;
        }
        while (cursor < count - 1 && messageOffset >= cursorBase + lengths[cursor]) {
            cursorBase += lengths[cursor++];
        }
    }
}
