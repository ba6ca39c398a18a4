// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.ring.WorkEntryFlyweight;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Memory for inline payload of entries until their work is complete. Each protection domain has slots of its own, which
 * grow on demand. The session's quotas of work entries and protection domains bound the memory, because each entry in
 * progress has at most one slot. Confined to the session's thread.
 */
final class InlineSlots {

    /** Number of slots that are allocated together. */
    private static final int SLOTS = 256;

    private static final int SLOT_LENGTH = WorkEntryFlyweight.MAX_INLINE;

    private final Device device;
    private final LongObjectHashMap<DomainSlots> domains = new LongObjectHashMap<>();

    InlineSlots(Device device) {
        this.device = device;
    }

    /**
     * Copies the payload of an entry into a slot, and makes the work request use the slot.
     *
     * @param domain domain of the connection of the entry
     */
    Slot take(Pd domain, RingSink sink, WorkEntryFlyweight entry, WorkItem item) {
        DomainSlots slots = domains.get(domain.id());
        if (slots == null) {
            slots = new DomainSlots(domain);
            domains.put(domain.id(), slots);
        }
        Slot slot = slots.take();
        int length = entry.length(0);
        entry.payload(slot.memory.segment(), slot.offset, length);
        item.inline = slot.memory;
        item.addSge(0, slot.offset, length);
        slot.sink = sink;
        slot.isPosted = false;
        return slot;
    }

    /**
     * Releases the memory of a domain that is to be deallocated. Work in progress keeps the memory: its connection keeps
     * the domain, too.
     */
    CompletableFuture<Void> release(Pd domain) {
        DomainSlots slots = domains.get(domain.id());
        if (slots == null || slots.isInUse()) {
            return CompletableFuture.completedFuture(null);
        }
        domains.remove(domain.id());
        return slots.release();
    }

    /** Releases all memory, which no work uses any more. */
    CompletableFuture<Void> release() {
        CompletableFuture<?>[] released =
                domains.values().stream().map(DomainSlots::release).toArray(CompletableFuture[]::new);
        domains.clear();
        return CompletableFuture.allOf(released);
    }

    /** Slots of one protection domain. */
    private final class DomainSlots {

        private final Pd domain;
        private final ArrayDeque<Slot> free = new ArrayDeque<>();
        private final List<MemoryRegion> regions = new ArrayList<>();

        private DomainSlots(Pd domain) {
            this.domain = domain;
        }

        private Slot take() {
            if (free.isEmpty()) {
                grow();
            }
            return free.remove();
        }

        private void grow() {
            MemoryRegion memory = device.registerMemory(
                    domain, ManagedBacking.allocate((long) SLOTS * SLOT_LENGTH), new RegionAttributes(Set.of(), 0), 0);
            regions.add(memory);
            for (int i = 0; i < SLOTS; i++) {
                free.add(new Slot(free, memory, (long) i * SLOT_LENGTH));
            }
        }

        private boolean isInUse() {
            return free.size() < regions.size() * SLOTS;
        }

        private CompletableFuture<Void> release() {
            return CompletableFuture.allOf(
                    regions.stream().map(device::deregisterMemory).toArray(CompletableFuture[]::new));
        }
    }

    /** Memory of one payload, which passes the completion of its work on. */
    static final class Slot implements CompletionTarget {

        private final ArrayDeque<Slot> free;
        private final MemoryRegion memory;
        private final long offset;
        private @Nullable RingSink sink;
        private boolean isPosted;

        private Slot(ArrayDeque<Slot> free, MemoryRegion memory, long offset) {
            this.free = free;
            this.memory = memory;
            this.offset = offset;
        }

        void posted() {
            isPosted = true;
        }

        boolean isPosted() {
            return isPosted;
        }

        void giveBack() {
            sink = null;
            free.add(this);
        }

        @Override
        public void complete(long connection, long id, boolean signaled, Cqe completion) {
            RingSink target = sink;
            giveBack();
            if (target != null) {
                target.complete(connection, id, signaled, completion);
                target.flush();
            }
        }

        @Override
        public void flush() {}
    }
}
