// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingConsumer;
import io.sidewarp.ring.RingLayout;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The completion ring of a queue, and the backlog of completions that were taken from it and wait for poll. All methods
 * except {@link #lock}, {@link #unlock} and {@link #seemsReady} need the lock. Taking a completion allocates nothing,
 * unless it is a failure.
 */
final class RingCompletions {

    /**
     * A completion that does not go to poll.
     *
     * @param future null if the queue itself posted the request
     */
    record Submitted(@Nullable CompletableFuture<WorkCompletion> future, WorkCompletion completion) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final long ring;
    private final int entries;
    private final RingConsumer consumer;
    private final RingSlots slots;
    private final CompletionEntryFlyweight entry = new CompletionEntryFlyweight(
            Arena.ofAuto().allocate((long) CompletionEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, Long.BYTES));

    private final Deque<WorkCompletion> backlog = new ArrayDeque<>();

    /** Number of threads that sleep until the sidecar wakes them. */
    private int sleepers;

    /** True if the ring is unmapped or cannot be read. */
    private boolean ended;

    /** Connections with send work that was refused ahead of its turn. {@link #takeRefused} returns them. */
    private final LongSet refused = new LongSet();

    /**
     * Makes the completions of a ring.
     *
     * @param entries capacity of the ring in completions
     */
    RingCompletions(long ring, int entries, RingConsumer consumer, RingSlots slots) {
        this.ring = ring;
        this.entries = entries;
        this.consumer = consumer;
        this.slots = slots;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    long ring() {
        return ring;
    }

    int entries() {
        return entries;
    }

    /** Returns the number of further completions that the backlog can take, besides those in the ring. */
    int backlogRoom() {
        return entries - backlog.size();
    }

    /** Returns completions to the backlog that were taken and not handed out. */
    void returnToBacklog(Deque<WorkCompletion> newestFirst) {
        newestFirst.forEach(backlog::addFirst);
    }

    /**
     * Returns whether there may be a completion, so that taking the lock is worthwhile. Does not need the lock.
     *
     * @param backlogToo whether the caller takes completions from the backlog
     */
    boolean seemsReady(boolean backlogToo) {
        try {
            return ended || backlogToo && !backlog.isEmpty() || consumer.isReady();
        } catch (IllegalStateException e) {
            // The ring was unmapped meanwhile.
            return true;
        }
    }

    /**
     * Asks the sidecar to wake this process, for a thread that is about to sleep. A call of {@link #wokeUp} must
     * follow.
     *
     * @return whether there is already a completion; the caller must not sleep then
     */
    boolean fallAsleep(boolean backlogToo) {
        sleepers++;
        return ended || consumer.arm(RingLayout.WAITS_FOR_ANY) || backlogToo && !backlog.isEmpty();
    }

    /** Records that a thread does not sleep any more. */
    void wokeUp() {
        sleepers--;
        // Other threads may still need the wake-up.
        if (sleepers == 0 && !ended) {
            consumer.disarm();
        }
    }

    /**
     * Moves completions into a batch, first those of the backlog.
     *
     * @param limit maximum number of completions
     * @return whether the sidecar waits for room in the ring; if so, the caller must wake it
     * @throws SidewarpException if the ring has an invalid entry
     */
    boolean take(CompletionBatch batch, int limit) {
        batch.clear();
        int left = Math.min(limit, CompletionBatch.CAPACITY);
        while (left > 0 && !backlog.isEmpty()) {
            batch.toAdd().show(backlog.remove());
            batch.added(null);
            left--;
        }
        return !ended && takeFromRing(batch, left);
    }

    private boolean takeFromRing(CompletionBatch batch, int limit) {
        for (int left = limit; left > 0 && consumer.isReady(); left--) {
            int blocks = consumer.copy(entry.segment());
            if (blocks == RingConsumer.BROKEN) {
                throw RingErrors.brokenCompletion();
            }
            consumer.advance(blocks);
            add(batch);
        }
        return consumer.unreleased() > 0 && consumer.release();
    }

    /**
     * Moves completions from the ring to the backlog.
     *
     * @param batch batch for the transfer
     * @param submitted takes the completions of submitted requests and of markers
     * @return as {@link #take}
     */
    boolean keep(CompletionBatch batch, int limit, List<Submitted> submitted) {
        batch.clear();
        boolean wake = !ended && takeFromRing(batch, Math.min(limit, CompletionBatch.CAPACITY));
        while (batch.hasNext()) {
            CompletionView view = batch.next();
            CompletableFuture<WorkCompletion> future = batch.takeFuture();
            if (batch.isPosted()) {
                backlog.add(view.toCompletion());
            } else {
                submitted.add(new Submitted(future, view.toCompletion()));
            }
        }
        return wake;
    }

    private void add(CompletionBatch batch) {
        int tag = entry.tag();
        CompletionView view = batch.toAdd();
        if ((tag & WorkRing.TAG_UNSIGNALED) == 0) {
            batch.countSignaled();
            if (isAheadOfTurn()) {
                refused.add(entry.connection());
            }
        }
        if ((tag & WorkRing.TAG_MARKER) != 0) {
            view.show(entry, 0);
            batch.addedMarker();
            return;
        }
        long id = entry.id();
        CompletableFuture<WorkCompletion> future = null;
        if ((tag & WorkRing.TAG_SLOT) != 0) {
            if (!slots.isTaken(id)) {
                throw RingErrors.unknownCompletion(id);
            }
            int place = (int) id;
            id = slots.id(place);
            future = slots.complete(place, entry.status() == CompletionEntryFlyweight.STATUS_SUCCESS);
        }
        view.show(entry, id);
        batch.added(future);
    }

    /** Returns whether send work completed before earlier work of its connection, as refused work does. */
    private boolean isAheadOfTurn() {
        CompletionStatus status = CompletionStatus.ofNumber(entry.status());
        return (status == CompletionStatus.INVALID_REQUEST || status == CompletionStatus.LOCAL_PROTECTION_ERROR)
                && Opcode.ofNumber(entry.opcode()) != Opcode.RECEIVE
                && (entry.tag() & WorkRing.TAG_MARKER) == 0;
    }

    boolean hasRefused() {
        return !refused.isEmpty();
    }

    /** Returns the connections whose send work was refused since the last call. */
    LongSet takeRefused() {
        LongSet taken = new LongSet();
        refused.forEach(taken::add);
        refused.forEach(refused::remove);
        return taken;
    }

    /** Ends the use of the ring. */
    void end() {
        ended = true;
    }
}
