// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.engine.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A send or a receive queue: the work that the device has not completed, each in a slot, whose number tells what a completion
 * belongs to. Thread-safe; allocates nothing per request.
 */
final class PostedWork {

    /** Hands a request to the device. Returns 0 or an error number. */
    @FunctionalInterface
    interface Post {

        int post(long request, long failed);
    }

    /** For {@link #complete}. */
    static final long NOT_INVALIDATED = -1;

    private final long tag;
    private final Post post;
    private final MemorySegment request;
    private final MemorySegment elements;
    private final MemorySegment failed;
    private final long[] ids;
    private final long[] lengths;
    private final long[] invalidated;
    /** Of work that the device has completed. */
    private final @Nullable CompletionStatus[] statuses;
    /** Slots in the order in which they were posted, by the number of the post. */
    private final int[] slots;

    private final Opcode[] opcodes;
    private final boolean[] signaled;
    private final int[] free;
    private int available;
    private long posted;
    private long told;

    /**
     * @param tag what completions carry beside the slot, in the upper 33 bits
     * @param maxSge scatter/gather elements of a request
     */
    PostedWork(Arena arena, long tag, int capacity, int maxSge, Post post) {
        this.tag = tag;
        this.post = post;
        this.request = arena.allocate(VerbsLayout.SEND_WR_LENGTH, Long.BYTES);
        this.elements = arena.allocate((long) VerbsLayout.SGE_LENGTH * maxSge, Long.BYTES);
        this.failed = arena.allocate(LONG);
        this.ids = new long[capacity];
        this.lengths = new long[capacity];
        this.invalidated = new long[capacity];
        this.statuses = new CompletionStatus[capacity];
        this.slots = new int[capacity];
        this.opcodes = new Opcode[capacity];
        this.signaled = new boolean[capacity];
        this.free = IntStream.range(0, capacity).toArray();
        this.available = capacity;
        request.set(LONG, VerbsLayout.WR_SG_LIST, elements.address());
    }

    synchronized PostResult post(WorkRequest wanted) {
        if (available == 0) {
            return PostResult.QUEUE_FULL;
        }
        int slot = free[--available];
        ids[slot] = wanted.id();
        lengths[slot] = wanted.length();
        opcodes[slot] = wanted.opcode();
        signaled[slot] = wanted.isSignaled();
        slots[(int) (posted % slots.length)] = slot;
        fill(wanted, slot);
        int error = post.post(request.address(), failed.address());
        if (error != 0) {
            free[available++] = slot;
            return error == KernelErrors.ENOMEM ? PostResult.QUEUE_FULL : PostResult.INVALID_REQUEST;
        }
        posted++;
        return PostResult.POSTED;
    }

    private void fill(WorkRequest wanted, int slot) {
        request.set(LONG, VerbsLayout.WR_ID, tag | slot);
        request.set(INT, VerbsLayout.WR_NUM_SGE, wanted.sgeCount());
        for (int i = 0; i < wanted.sgeCount(); i++) {
            long element = (long) VerbsLayout.SGE_LENGTH * i;
            long address = wanted.region(i).segment().address() + wanted.offset(i);
            elements.set(LONG, element + VerbsLayout.SGE_ADDR, address);
            elements.set(INT, element + VerbsLayout.SGE_OCTETS, (int) wanted.length(i));
            elements.set(INT, element + VerbsLayout.SGE_LKEY, wanted.region(i).stag());
        }
        if (wanted.opcode() == Opcode.RECEIVE) {
            return;
        }
        // The device tells of each request, so that its slot is free again; who did not ask for that is not told.
        int flags = VerbsLayout.SEND_SIGNALED;
        if (wanted.isFence()) {
            flags |= VerbsLayout.SEND_FENCE;
        }
        if (wanted.isSolicited()) {
            flags |= VerbsLayout.SEND_SOLICITED;
        }
        request.set(INT, VerbsLayout.WR_OPCODE, opcode(wanted));
        request.set(INT, VerbsLayout.WR_SEND_FLAGS, flags);
        request.set(INT, VerbsLayout.WR_INVALIDATE_RKEY, wanted.isInvalidate() ? wanted.invalidateStag() : 0);
        request.set(LONG, VerbsLayout.WR_REMOTE_ADDR, wanted.remoteTaggedOffset());
        request.set(INT, VerbsLayout.WR_RKEY, wanted.remoteStag());
    }

    private static int opcode(WorkRequest wanted) {
        return switch (wanted.opcode()) {
            case RDMA_WRITE -> VerbsLayout.WR_RDMA_WRITE;
            case RDMA_READ -> VerbsLayout.WR_RDMA_READ;
            case SEND -> wanted.isInvalidate() ? VerbsLayout.WR_SEND_WITH_INV : VerbsLayout.WR_SEND;
            default -> throw new IllegalArgumentException(wanted.opcode() + " is no operation of this device");
        };
    }

    /** Takes what the device says of a request. It is told by {@link #next}, or by {@link #take}. */
    synchronized void complete(int slot, CompletionStatus status, long received, long newInvalidated) {
        statuses[slot] = status;
        invalidated[slot] = newInvalidated;
        if (opcodes[slot] == Opcode.RECEIVE) {
            lengths[slot] = received;
        }
    }

    /**
     * The next completion in the order in which work was posted, in which some devices do not complete: siw has a Send done
     * before a Read ahead of it. Those that nobody wants to know of are left out.
     *
     * @return false when there is none yet
     */
    synchronized boolean next(long queuePair, WorkCompletion into) {
        while (told < posted) {
            int slot = slots[(int) (told % slots.length)];
            if (statuses[slot] == null) {
                return false;
            }
            told++;
            if (take(slot, queuePair, into)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The completion of a slot, which is free then; for queues whose order is not that of posting.
     *
     * @return false when nobody wants to know of it
     */
    synchronized boolean take(int slot, long queuePair, WorkCompletion into) {
        CompletionStatus status = statuses[slot] == null ? CompletionStatus.FLUSHED : statuses[slot];
        boolean success = status == CompletionStatus.SUCCESS;
        into.set(ids[slot], queuePair, opcodes[slot], status, success ? lengths[slot] : 0);
        into.setReceived(false, invalidated[slot] >= 0, (int) Math.max(0, invalidated[slot]));
        statuses[slot] = null;
        free[available++] = slot;
        return signaled[slot] || !success;
    }

    /** Completes as flushed what the device did not complete. */
    synchronized void flush() {
        for (long sequence = told; sequence < posted; sequence++) {
            int slot = slots[(int) (sequence % slots.length)];
            if (statuses[slot] == null) {
                complete(slot, CompletionStatus.FLUSHED, 0, NOT_INVALIDATED);
            }
        }
    }

    synchronized int outstanding() {
        return ids.length - available;
    }

    int capacity() {
        return ids.length;
    }
}
