// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.rdmap.WorkQueue;
import io.sidewarp.engine.rdmap.Wqe;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A work request of a test, on its way into a work queue. */
public final class Work {

    private record Part(MemoryRegion region, long offset, long octets) {}

    private final WorkQueue queue;
    private final Runnable doorbell;
    private final long id;
    private int opcode;
    private boolean signaled = true;
    private boolean fence;
    private boolean localFence;
    private boolean flush;
    private MemoryRegion subject;
    private int key;
    private int stag;
    private long taggedOffset;
    private int invalidateStag;
    private boolean withImmediate;
    private boolean solicited;
    private long immediate;
    private Consumer<Wqe> operands = wqe -> {};
    private final List<Part> parts = new ArrayList<>();

    /** @param doorbell called when the work is in the queue */
    Work(WorkQueue queue, Runnable doorbell, int opcode, long id) {
        this.queue = queue;
        this.doorbell = doorbell;
        this.opcode = opcode;
        this.id = id;
    }

    /** Adds a part of local memory. */
    public Work with(MemoryRegion region, long offset, long octets) {
        parts.add(new Part(region, offset, octets));
        return this;
    }

    /** Adds all of a region. */
    public Work with(MemoryRegion region) {
        return with(region, 0, region.length());
    }

    /** Names the peer's memory. */
    public Work remote(int remoteStag, long remoteTaggedOffset) {
        stag = remoteStag;
        taggedOffset = remoteTaggedOffset;
        return this;
    }

    /** Names the beginning of a region that the peer registered. */
    public Work remote(MemoryRegion region) {
        return remote(region.stag(), region.baseTaggedOffset());
    }

    /** Send or Immediate Data with Solicited Event. */
    public Work solicited() {
        solicited = true;
        if (RdmapControl.isImmediate(opcode)) {
            opcode = RdmapControl.IMMEDIATE_WITH_SE;
        } else if (!RdmapControl.isTagged(opcode)) {
            opcode = RdmapControl.sendOpcode(true, RdmapControl.invalidates(opcode));
        }
        return this;
    }

    /** Immediate Data, behind a Write or alone. */
    public Work immediate(long data) {
        withImmediate = true;
        immediate = data;
        return this;
    }

    /** The operands of a FetchAdd. */
    public Work add(long value, long mask) {
        operands = wqe -> wqe.fetchAdd(value, mask);
        return this;
    }

    /** The operands of a CmpSwap. */
    public Work compareSwap(long compare, long compareMask, long swap, long swapMask) {
        operands = wqe -> wqe.compareSwap(compare, compareMask, swap, swapMask);
        return this;
    }

    /** Sets operands beyond the members above. */
    Work operands(Consumer<Wqe> newOperands) {
        operands = newOperands;
        return this;
    }

    /** Send with Invalidate. */
    public Work invalidating(int remoteStag) {
        opcode = RdmapControl.sendOpcode(RdmapControl.isSolicited(opcode), true);
        invalidateStag = remoteStag;
        return this;
    }

    public Work fenced() {
        fence = true;
        return this;
    }

    /** Waits for all work before it. */
    public Work fencedLocally() {
        localFence = true;
        return this;
    }

    /** Completes when the peer has placed it and what is before it. */
    public Work flushed() {
        flush = true;
        return this;
    }

    /** The local region that is invalidated or enabled. */
    Work subject(MemoryRegion region, int newKey) {
        subject = region;
        key = newKey;
        return this;
    }

    public Work unsignaled() {
        signaled = false;
        return this;
    }

    /** Puts the request into the queue and tells the stream. */
    public void post() {
        enqueue();
        doorbell.run();
    }

    /** Puts the request into the queue and leaves the stream to find out. */
    public void enqueue() {
        long sequence = queue.claim();
        if (sequence < 0) {
            throw new AssertionError("the work queue is full");
        }
        Wqe wqe = queue.slot(sequence);
        wqe.begin(id, opcode, signaled, fence);
        if (localFence) {
            wqe.localFence();
        }
        if (subject != null) {
            wqe.subject(subject, key);
        }
        wqe.remote(stag, taggedOffset);
        wqe.invalidate(invalidateStag);
        if (withImmediate) {
            wqe.immediate(RdmapControl.immediateOpcode(solicited), immediate);
        }
        if (flush) {
            wqe.flush();
        }
        operands.accept(wqe);
        for (Part part : parts) {
            wqe.addSge(part.region(), part.offset(), part.octets());
        }
        queue.publish(sequence);
    }
}
