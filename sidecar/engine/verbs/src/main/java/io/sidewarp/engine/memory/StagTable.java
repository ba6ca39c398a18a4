// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.RegionException.Reason;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Table of the regions of a device by STag. The upper 24 bits of an STag are the number of its region. The low 8 bits
 * are a key that the region's application may change when it enables the region anew. Both come from a secure random
 * source at first. STags may have any value of the 32 bits except near the two ends. A number is reused only after
 * {@link #QUARANTINE} other numbers were given back (RFC 5040 section 8.1.1 item 8).
 *
 * <p>Lookups take no lock and allocate nothing. The table uses open addressing with linear probing over an array.
 * Writers hold a lock, fill the array with release stores, and replace the array when it gets crowded. A lookup during
 * a removal may still find the region. The state of the region then tells that the region is not valid.
 */
public final class StagTable {

    /** Numbers that must be given back before one of them may be used again. */
    public static final int QUARANTINE = 65_536;

    /** Maximum number of regions in a table, far below the count of numbers. */
    public static final int MAX_REGIONS = 1 << 22;

    /** Bits of the key. */
    static final int KEY_BITS = 8;

    /** First number that no region has, so that an STag is never 0, whatever its key is. */
    private static final int FIRST_NUMBER = 0;

    /** Last number that no region has, so that an STag is never 0xFFFFFFFF, whatever its key is. */
    private static final int LAST_NUMBER = -1 >>> KEY_BITS;

    private static final int MIN_SLOTS = 64;
    private static final Slot REMOVED = new Slot(-1, null);

    private final IntSupplier random;
    private final int[] quarantined = new int[QUARANTINE];
    private final int limit;
    private int nextQuarantined;
    private int size;
    /** Slots that are not null, including removed slots. */
    private int used;

    private volatile AtomicReferenceArray<@Nullable Slot> slots = new AtomicReferenceArray<>(MIN_SLOTS);

    /** @param limit regions that may be registered at the same time, 1 to {@link #MAX_REGIONS} */
    public StagTable(int limit) {
        this(limit, new SecureRandom()::nextInt);
    }

    StagTable(int limit, IntSupplier random) {
        if (limit < 1 || limit > MAX_REGIONS) {
            throw new IllegalArgumentException("the limit of regions must be 1 to " + MAX_REGIONS + ", not " + limit);
        }
        this.limit = limit;
        this.random = random;
    }

    /** Returns the region of an STag, or null. */
    public @Nullable MemoryRegion lookup(int stag) {
        MemoryRegion region = find(number(stag));
        return region != null && region.stag() == stag ? region : null;
    }

    private @Nullable MemoryRegion find(int number) {
        AtomicReferenceArray<@Nullable Slot> current = slots;
        int mask = current.length() - 1;
        for (int i = number & mask; ; i = (i + 1) & mask) {
            Slot slot = current.getAcquire(i);
            if (slot == null) {
                return null;
            }
            if (slot.number == number) {
                return slot.region;
            }
        }
    }

    /**
     * Draws an STag, creates the region with this STag and adds the region.
     *
     * @throws RegionException LIMIT when the table is full
     */
    public synchronized MemoryRegion add(IntFunction<MemoryRegion> factory) {
        if (size >= limit) {
            throw new RegionException(
                    Reason.LIMIT,
                    "all " + limit + " regions are in use; deregister some, or raise the limit of regions");
        }
        MemoryRegion region = factory.apply(draw());
        if ((used + 1) * 2 > slots.length()) {
            rebuild();
        }
        insert(slots, new Slot(number(region.stag()), region));
        used++;
        size++;
        return region;
    }

    /** Removes a region. Returns false when the region is not in the table. */
    public synchronized boolean remove(MemoryRegion region) {
        AtomicReferenceArray<@Nullable Slot> current = slots;
        int mask = current.length() - 1;
        for (int i = number(region.stag()) & mask; ; i = (i + 1) & mask) {
            Slot slot = current.getPlain(i);
            if (slot == null) {
                return false;
            }
            if (slot.region == region) {
                current.setRelease(i, REMOVED);
                size--;
                quarantined[nextQuarantined] = slot.number;
                nextQuarantined = (nextQuarantined + 1) % QUARANTINE;
                return true;
            }
        }
    }

    /** Regions in the table. */
    public synchronized int size() {
        return size;
    }

    /** Returns a copy of the table's regions, in no particular order. */
    public synchronized List<MemoryRegion> regions() {
        List<MemoryRegion> result = new ArrayList<>(size);
        for (int i = 0; i < slots.length(); i++) {
            Slot slot = slots.getPlain(i);
            if (slot != null && slot.region != null) {
                result.add(slot.region);
            }
        }
        return result;
    }

    private int draw() {
        int stag;
        do {
            stag = random.getAsInt();
        } while (!isFree(number(stag)));
        return stag;
    }

    private boolean isFree(int number) {
        return number != FIRST_NUMBER && number != LAST_NUMBER && find(number) == null && !isQuarantined(number);
    }

    /** Searches 256 KiB, which costs little compared to the preparation of a region's pages. */
    private boolean isQuarantined(int number) {
        for (int other : quarantined) {
            if (other == number) {
                return true;
            }
        }
        return false;
    }

    /** Drops removed slots and makes room, so that at most a quarter of the slots is used afterwards. */
    private void rebuild() {
        int capacity = MIN_SLOTS;
        while (capacity < (size + 1) * 4) {
            capacity *= 2;
        }
        AtomicReferenceArray<@Nullable Slot> next = new AtomicReferenceArray<>(capacity);
        for (MemoryRegion region : regions()) {
            insert(next, new Slot(number(region.stag()), region));
        }
        used = size;
        slots = next;
    }

    private static void insert(AtomicReferenceArray<@Nullable Slot> target, Slot slot) {
        int mask = target.length() - 1;
        int i = slot.number & mask;
        while (target.getPlain(i) != null) {
            i = (i + 1) & mask;
        }
        target.setRelease(i, slot);
    }

    /** Returns the number in an STag. Numbers are random already, so their low bits spread them over the table. */
    private static int number(int stag) {
        return stag >>> KEY_BITS;
    }

    /** An entry. The number of a removed entry occurs in no STag. */
    private record Slot(int number, @Nullable MemoryRegion region) {}
}
