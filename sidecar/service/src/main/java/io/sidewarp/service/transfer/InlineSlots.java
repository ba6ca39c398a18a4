// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.ring.WorkEntryFlyweight;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Memory for inline payload of entries until their work is complete. Allocated on first use. Confined to the session's
 * thread.
 */
final class InlineSlots {

    /** Number of slots of a session: the maximum number of entries with inline payload in progress. */
    private static final int SLOTS = 256;

    private static final int SLOT_LENGTH = 256;

    private final Device device;
    private final ProtectionDomain domain;
    private final ArrayDeque<Slot> free = new ArrayDeque<>();
    private final ArrayDeque<WorkRing> waiting = new ArrayDeque<>();
    private @Nullable MemoryRegion region;

    InlineSlots(Device device, ProtectionDomain domain) {
        this.device = device;
        this.domain = domain;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /**
     * Copies the payload of an entry into a slot, and makes the work request use the slot.
     *
     * @return null if no slot is free; the ring is resumed when a slot becomes free
     */
    @Nullable
    Slot take(RingSink sink, WorkRing ring, WorkEntryFlyweight entry, WorkItem item) {
        MemoryRegion memory = region;
        if (memory == null) {
            memory = device.registerMemory(
                    domain, ManagedBacking.allocate((long) SLOTS * SLOT_LENGTH), new RegionAttributes(Set.of(), 0), 0);
            region = memory;
            for (int i = 0; i < SLOTS; i++) {
                free.add(new Slot((long) i * SLOT_LENGTH));
            }
        }
        Slot slot = free.poll();
        if (slot == null) {
            waiting.add(ring);
            return null;
        }
        int length = entry.length(0);
        entry.payload(memory.segment(), slot.offset, length);
        item.inline = memory;
        item.addSge(0, slot.offset, length);
        slot.sink = sink;
        slot.isPosted = false;
        return slot;
    }

    /** Forgets a ring that has ended and no longer waits for a slot. */
    void forget(WorkRing ring) {
        waiting.remove(ring);
    }

    /** Releases the memory, which no work uses any more. */
    CompletableFuture<Void> release() {
        MemoryRegion memory = region;
        region = null;
        return memory == null ? CompletableFuture.completedFuture(null) : device.deregisterMemory(memory);
    }

    /** Memory of one payload, which passes the completion of its work on. */
    final class Slot implements CompletionSink {

        private final long offset;
        private @Nullable RingSink sink;
        private boolean isPosted;

        private Slot(long offset) {
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
            WorkRing next = waiting.poll();
            if (next != null) {
                next.onSpace();
            }
        }

        @Override
        public void complete(long connection, long id, boolean signaled, WorkCompletion completion) {
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
