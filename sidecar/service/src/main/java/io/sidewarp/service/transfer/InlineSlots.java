// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

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
 * Memory for inline payload of entries until their work is complete. Grows on demand. The session's quota of work
 * entries bounds it, because each entry in progress has at most one slot. Confined to the session's thread.
 */
final class InlineSlots {

    /** Number of slots that are allocated together. */
    private static final int SLOTS = 256;

    private static final int SLOT_LENGTH = 256;

    private final Device device;
    private final Pd domain;
    private final ArrayDeque<Slot> free = new ArrayDeque<>();
    private final List<MemoryRegion> regions = new ArrayList<>();

    InlineSlots(Device device, Pd domain) {
        this.device = device;
        this.domain = domain;
    }

    Pd domain() {
        return domain;
    }

    /** Copies the payload of an entry into a slot, and makes the work request use the slot. */
    Slot take(RingSink sink, WorkEntryFlyweight entry, WorkItem item) {
        if (free.isEmpty()) {
            grow();
        }
        Slot slot = free.remove();
        int length = entry.length(0);
        entry.payload(slot.memory.segment(), slot.offset, length);
        item.inline = slot.memory;
        item.addSge(0, slot.offset, length);
        slot.sink = sink;
        slot.isPosted = false;
        return slot;
    }

    private void grow() {
        MemoryRegion memory = device.registerMemory(
                domain, ManagedBacking.allocate((long) SLOTS * SLOT_LENGTH), new RegionAttributes(Set.of(), 0), 0);
        regions.add(memory);
        for (int i = 0; i < SLOTS; i++) {
            free.add(new Slot(memory, (long) i * SLOT_LENGTH));
        }
    }

    /** Releases the memory, which no work uses any more. */
    CompletableFuture<Void> release() {
        CompletableFuture<?>[] released =
                regions.stream().map(device::deregisterMemory).toArray(CompletableFuture[]::new);
        regions.clear();
        free.clear();
        return CompletableFuture.allOf(released);
    }

    /** Memory of one payload, which passes the completion of its work on. */
    final class Slot implements CompletionTarget {

        private final MemoryRegion memory;
        private final long offset;
        private @Nullable RingSink sink;
        private boolean isPosted;

        private Slot(MemoryRegion memory, long offset) {
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
