// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A send or a receive queue: the work that the device has not completed. Each request has a slot, and the number of the
 * slot identifies its completion. Thread-safe; allocates nothing per request.
 *
 * <p>A flush is an RDMA Read of no bytes. Its success proves that the peer placed everything posted before it (RFC 5040
 * section 5.5 rule 12). Data with a flush is two elements of the device in one slot. The device reports the data only
 * if it failed. The flush completes the request. A completion of the data has {@link #DATA_OF_PAIR} in its slot.
 */
final class DeviceWorkQueue {

    /** Hands a request to the device. Returns 0 or an error number. */
    @FunctionalInterface
    interface Post {

        int post(long request, long failed);
    }

    /** Value for {@link #complete}: the peer invalidated no STag. */
    static final long NOT_INVALIDATED = -1;

    /** Flag in a slot's number: the data of a request with a flush, whose second completion follows. */
    private static final int DATA_OF_PAIR = 1 << 30;

    /**
     * STag in a flush. The peer does not check the STag of a Read of no bytes (RFC 5041 section 5.2). Some
     * implementations treat 0 as no STag.
     */
    private static final int FLUSHED_STAG = 1;

    private static final int NO_SLOT = -1;

    private final long tag;
    private final Post post;
    private final MemorySegment request;
    private final MemorySegment elements;
    private final MemorySegment flushRequest;
    private final MemorySegment flushElement;
    private final MemorySegment failed;
    private final long[] ids;
    private final long[] lengths;
    private final long[] invalidated;
    /** Statuses of work that the device has completed, by slot. */
    private final @Nullable CqeStatus[] statuses;
    /** Failures of data whose flush has not completed yet, by slot. */
    private final @Nullable CqeStatus[] dataFailures;
    /**
     * Number of data requests, counted from the first, that the success of a Read or flush confirms. 0 for other work.
     */
    private final long[] covers;
    /** Slots in posting order. The index is the number of the post modulo the capacity. */
    private final int[] slots;

    private final WrOpcode[] opcodes;
    private final boolean[] signaled;
    private final int[] free;
    private int available;
    private long posted;
    private long told;
    private long dataPosted;
    private long dataConfirmed;
    private boolean failure;
    /** Slot of a flush that is not reported. */
    private int hidden = NO_SLOT;

    /**
     * @param tag identifies the queue in completions, in the upper 33 bits; the slot is below
     * @param maxSge scatter/gather elements of a request
     */
    DeviceWorkQueue(Arena arena, long tag, int capacity, int maxSge, Post post) {
        this.tag = tag;
        this.post = post;
        this.request = arena.allocate(VerbsLayout.SEND_WR_LENGTH, Long.BYTES);
        this.elements = arena.allocate((long) VerbsLayout.SGE_LENGTH * maxSge, Long.BYTES);
        this.flushRequest = arena.allocate(VerbsLayout.SEND_WR_LENGTH, Long.BYTES);
        this.flushElement = arena.allocate(VerbsLayout.SGE_LENGTH, Long.BYTES);
        this.failed = arena.allocate(LONG);
        this.ids = new long[capacity];
        this.lengths = new long[capacity];
        this.invalidated = new long[capacity];
        this.statuses = new CqeStatus[capacity];
        this.dataFailures = new CqeStatus[capacity];
        this.covers = new long[capacity];
        this.slots = new int[capacity];
        this.opcodes = new WrOpcode[capacity];
        this.signaled = new boolean[capacity];
        this.free = IntStream.range(0, capacity).toArray();
        this.available = capacity;
        request.set(LONG, VerbsLayout.WR_SG_LIST, elements.address());
    }

    /** Sets the memory for flushes, which write nothing there. Called before anything is posted. */
    void setFlushSink(long address, int key) {
        flushElement.set(LONG, VerbsLayout.SGE_ADDR, address);
        flushElement.set(INT, VerbsLayout.SGE_LKEY, key);
        flushRequest.set(LONG, VerbsLayout.WR_SG_LIST, flushElement.address());
        flushRequest.set(INT, VerbsLayout.WR_NUM_SGE, 1);
        flushRequest.set(INT, VerbsLayout.WR_OPCODE, VerbsLayout.WR_RDMA_READ);
        flushRequest.set(INT, VerbsLayout.WR_SEND_FLAGS, VerbsLayout.SEND_SIGNALED);
        flushRequest.set(INT, VerbsLayout.WR_RKEY, FLUSHED_STAG);
    }

    /** Posts a request. A request with a flush takes two elements of the device's queue. */
    synchronized PostResult post(Wr wanted) {
        if (available == 0) {
            return PostResult.QUEUE_FULL;
        }
        int slot = free[--available];
        boolean data = wanted.opcode() == WrOpcode.RDMA_WRITE || wanted.opcode() == WrOpcode.SEND;
        boolean pair = data && wanted.isFlush();
        ids[slot] = wanted.id();
        lengths[slot] = wanted.length();
        opcodes[slot] = wanted.opcode();
        signaled[slot] = wanted.isSignaled();
        if (wanted.opcode() != WrOpcode.FLUSH) {
            fill(wanted, slot, pair);
        }
        int error = post(slot, wanted.opcode() == WrOpcode.FLUSH, pair);
        if (error != 0) {
            return error == LinuxErrno.ENOMEM ? PostResult.QUEUE_FULL : PostResult.INVALID_REQUEST;
        }
        if (data) {
            dataPosted++;
        }
        boolean answered = pair || wanted.opcode() == WrOpcode.RDMA_READ || wanted.opcode() == WrOpcode.FLUSH;
        covers[slot] = answered ? dataPosted : 0;
        return PostResult.POSTED;
    }

    /**
     * Posts a flush behind all other work and does not report its completion. Nothing may be posted behind it.
     *
     * @return false when there is no room, or the device refuses
     */
    synchronized boolean confirm() {
        if (available == 0) {
            return false;
        }
        int slot = free[--available];
        ids[slot] = 0;
        lengths[slot] = 0;
        opcodes[slot] = WrOpcode.FLUSH;
        signaled[slot] = false;
        if (post(slot, true, false) != 0) {
            return false;
        }
        covers[slot] = dataPosted;
        hidden = slot;
        return true;
    }

    /** Hands the filled request to the device. Returns 0, or an error number after it has freed the slot. */
    private int post(int slot, boolean flush, boolean pair) {
        statuses[slot] = null;
        dataFailures[slot] = null;
        flushRequest.set(LONG, VerbsLayout.WR_ID, tag | slot);
        MemorySegment first = flush ? flushRequest : request;
        int error = post.post(first.address(), failed.address());
        // A device that took only the data has failed. The flush then completes when the queue pair ends.
        boolean halfPosted = pair && error != 0 && failed.get(LONG, 0) == flushRequest.address();
        if (error != 0 && !halfPosted) {
            free[available++] = slot;
            return error;
        }
        slots[(int) (posted % slots.length)] = slot;
        posted++;
        return 0;
    }

    private void fill(Wr wanted, int slot, boolean pair) {
        request.set(LONG, VerbsLayout.WR_ID, tag | slot | (pair ? DATA_OF_PAIR : 0));
        request.set(LONG, VerbsLayout.WR_NEXT, pair ? flushRequest.address() : 0);
        request.set(INT, VerbsLayout.WR_NUM_SGE, wanted.sgeCount());
        for (int i = 0; i < wanted.sgeCount(); i++) {
            long element = (long) VerbsLayout.SGE_LENGTH * i;
            long address = wanted.region(i).segment().address() + wanted.offset(i);
            elements.set(LONG, element + VerbsLayout.SGE_ADDR, address);
            elements.set(INT, element + VerbsLayout.SGE_OCTETS, (int) wanted.length(i));
            elements.set(INT, element + VerbsLayout.SGE_LKEY, wanted.region(i).stag());
        }
        if (wanted.opcode() == WrOpcode.RECEIVE) {
            return;
        }
        // The device reports each request, so that its slot is freed. Unsignaled requests are not reported to the
        // application.
        int flags = pair ? 0 : VerbsLayout.SEND_SIGNALED;
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

    private static int opcode(Wr wanted) {
        return switch (wanted.opcode()) {
            case RDMA_WRITE -> VerbsLayout.WR_RDMA_WRITE;
            case RDMA_READ -> VerbsLayout.WR_RDMA_READ;
            case SEND -> wanted.isInvalidate() ? VerbsLayout.WR_SEND_WITH_INV : VerbsLayout.WR_SEND;
            default -> throw new IllegalArgumentException(wanted.opcode() + " is no operation of this device");
        };
    }

    /** Records the device's completion of a request. {@link #next} or {@link #take} reports it. */
    synchronized void complete(int completed, CqeStatus status, long received, long newInvalidated) {
        int slot = completed & ~DATA_OF_PAIR;
        boolean success = status == CqeStatus.SUCCESS;
        failure |= !success;
        if (completed != slot) {
            dataFailures[slot] = success ? null : status;
            return;
        }
        CqeStatus dataFailure = dataFailures[slot];
        statuses[slot] = dataFailure == null ? status : dataFailure;
        if (success) {
            dataConfirmed = Math.max(dataConfirmed, covers[slot]);
        }
        invalidated[slot] = newInvalidated;
        if (opcodes[slot] == WrOpcode.RECEIVE) {
            lengths[slot] = received;
        }
    }

    /**
     * Takes the next completion in posting order, and skips successful unsignaled work. Some devices complete in
     * another order: siw completes a Send before an earlier Read.
     *
     * @return false when there is none yet
     */
    synchronized boolean next(long queuePair, Cqe into) {
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
     * Takes the completion of a slot, and frees the slot. Called directly for queues that do not complete in posting
     * order.
     *
     * @return false when the application did not ask for this completion
     */
    synchronized boolean take(int slot, long queuePair, Cqe into) {
        CqeStatus status = statuses[slot] == null ? CqeStatus.FLUSHED : statuses[slot];
        boolean success = status == CqeStatus.SUCCESS;
        into.set(ids[slot], queuePair, opcodes[slot], status, success ? lengths[slot] : 0);
        into.setReceived(false, invalidated[slot] >= 0, (int) Math.max(0, invalidated[slot]));
        statuses[slot] = null;
        free[available++] = slot;
        return slot != hidden && (signaled[slot] || !success);
    }

    /** Completes as flushed the work that the device did not complete. */
    synchronized void flush() {
        for (long sequence = told; sequence < posted; sequence++) {
            int slot = slots[(int) (sequence % slots.length)];
            if (statuses[slot] == null) {
                complete(slot, CqeStatus.FLUSHED, 0, NOT_INVALIDATED);
            }
        }
    }

    /** Returns whether data was posted whose placement by the peer no later Read or flush has confirmed. */
    synchronized boolean isUnconfirmed() {
        return dataPosted > dataConfirmed;
    }

    /** Returns whether some work failed, or was flushed by the device. */
    synchronized boolean hasFailed() {
        return failure;
    }

    synchronized int outstanding() {
        return ids.length - available;
    }

    int capacity() {
        return ids.length;
    }
}
