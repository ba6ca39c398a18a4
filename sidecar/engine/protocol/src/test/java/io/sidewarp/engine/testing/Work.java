// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.WqeQueue;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.function.Consumer;

/** A work request of a test, on its way into a work queue. */
public final class Work {

    private final WqeQueue queue;
    private final Runnable doorbell;
    private final long id;
    private WrOpcode opcode;
    private Consumer<Wr> content = request -> {};
    /** @param doorbell called when the work is in the queue */
    Work(WqeQueue queue, Runnable doorbell, WrOpcode opcode, long id) {
        this.queue = queue;
        this.doorbell = doorbell;
        this.opcode = opcode;
        this.id = id;
    }

    private Work set(Consumer<Wr> change) {
        content = content.andThen(change);
        return this;
    }

    /** Adds a part of local memory. */
    public Work with(MemoryRegion region, long offset, long octets) {
        return set(request -> request.addSge(region, offset, octets));
    }

    /** Adds all of a region. */
    public Work with(MemoryRegion region) {
        return with(region, 0, region.length());
    }

    /** Names the peer's memory. */
    public Work remote(int remoteStag, long remoteTaggedOffset) {
        return set(request -> request.remote(remoteStag, remoteTaggedOffset));
    }

    /** Names the beginning of a region that the peer registered. */
    public Work remote(MemoryRegion region) {
        return remote(region.stag(), region.baseTaggedOffset());
    }

    /** Send or Immediate Data with Solicited Event. */
    public Work solicited() {
        return set(request -> request.solicited(true));
    }

    /** Immediate Data, behind a Write or alone. */
    public Work immediate(long data) {
        opcode = opcode == WrOpcode.RDMA_WRITE ? WrOpcode.RDMA_WRITE_WITH_IMMEDIATE : opcode;
        return set(request -> request.immediate(data));
    }

    /** The operands of a FetchAdd. */
    public Work add(long value, long mask) {
        return set(request -> request.add(value, mask));
    }

    /** The operands of a CmpSwap. */
    public Work compareSwap(long compare, long compareMask, long swap, long swapMask) {
        return set(request -> request.compareSwap(compare, compareMask, swap, swapMask));
    }

    /** Send with Invalidate. */
    public Work invalidating(int remoteStag) {
        return set(request -> request.invalidateStag(remoteStag));
    }

    public Work fenced() {
        return set(request -> request.fence(true));
    }

    /** Waits for all work before it. */
    public Work fencedLocally() {
        return set(request -> request.localFence(true));
    }

    /** Completes when the peer has placed it and what is before it. */
    public Work flushed() {
        return set(request -> request.flush(true));
    }

    /** The local region that is invalidated or enabled. */
    Work subject(MemoryRegion region, int newKey) {
        return set(request -> request.enable(region, newKey));
    }

    public Work unsignaled() {
        return set(request -> request.signaled(false));
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
        Wr request = new Wr().reset(id, opcode);
        content.accept(request);
        queue.slot(sequence).set(request);
        queue.publish(sequence);
    }
}
