// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.LateFaults;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.net.PolledSources;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.ring.RingConsumer;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.WorkRingKind;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Send ring or receive ring. Copies entries, checks them and posts them. The ring is not polled while its next entry
 * waits for room for its completion, or for space on the send queue of its connection. Confined to the session's
 * thread. Allocates nothing per entry unless it is refused.
 */
final class WorkRingReader implements PolledSources.Source {

    /** Maximum number of entries per turn of the loop, for a fair share of sockets and other rings. */
    private static final int MAX_PER_TURN = 128;

    /** Number of turns without an entry after which the ring is armed, even if the loop has other work. */
    private static final int EMPTY_TURNS = 2000;

    /**
     * Delay before the loop checks again after arming. A producer without memory fences may have missed the request for
     * a wake-up.
     */
    private static final long SECOND_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final Logger LOG = Logger.getLogger(WorkRingReader.class);

    private final long id;
    private final WorkRingKind kind;
    private final SharedBacking file;
    private final RingConsumer consumer;
    private final int blocks;
    private final CompletionRingWriter completions;
    private final SessionTransfers transfers;
    private final EventLoop loop;
    private final WorkEntryFlyweight entry = new WorkEntryFlyweight(
            MemorySegment.ofArray(new long[WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE / Long.BYTES]));
    private final EntryDecoder decoder = new EntryDecoder(entry);
    private final WorkItem item = new WorkItem();
    /** Sinks by tag, created on first use. */
    private final @Nullable RingSink[] sinks = new RingSink[256];

    private final InlineSlots inline;
    private final Grant grant;
    private final Runnable onFailure;
    private final Runnable secondLook = this::lookAgain;
    private @Nullable ConnectionWork last;
    private int emptyTurns;
    private long armedNanos;
    private boolean secondLookDue;
    private boolean polled;
    private boolean awaitsSpace;
    private boolean awaitsRoom;
    private boolean broken;
    private boolean closed;
    /** Number of entries that an ending ring still takes. The limit is needed because a producer may write forever. */
    private int entriesLeft = Integer.MAX_VALUE;

    private @Nullable Runnable whenEmpty;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    /** @param onFailure runs if the ring becomes unusable */
    WorkRingReader(
            long id,
            WorkRingKind kind,
            SharedBacking file,
            int blocks,
            CompletionRingWriter completions,
            SessionTransfers transfers,
            InlineSlots inline,
            Grant grant,
            Runnable onFailure) {
        this.id = id;
        this.kind = kind;
        this.file = file;
        this.blocks = blocks;
        this.consumer = new RingConsumer(file.segment(), blocks, WorkEntryFlyweight.MAX_BLOCKS);
        this.completions = completions;
        this.transfers = transfers;
        this.inline = inline;
        this.grant = grant;
        this.loop = completions.loop();
        this.onFailure = onFailure;
    }

    long id() {
        return id;
    }

    WorkRingKind kind() {
        return kind;
    }

    SharedBacking file() {
        return file;
    }

    int blocks() {
        return blocks;
    }

    CompletionRingWriter completions() {
        return completions;
    }

    /** Returns the ring's grant from the session's quotas. */
    Grant grant() {
        return grant;
    }

    /** Returns a future that completes when the ring has ended and its file is gone. */
    CompletableFuture<Void> gone() {
        return gone;
    }

    /** Returns whether entries wait for space on a send queue. */
    boolean awaitsSpace() {
        return awaitsSpace;
    }

    /** Returns whether entries wait for room, or for space on a send queue. */
    boolean isHeldBack() {
        return awaitsRoom || awaitsSpace;
    }

    // Polling.

    @Override
    public PolledSources.Outcome poll() {
        if (closed || isHeldBack()) {
            polled = false;
            return PolledSources.Outcome.LEAVES;
        }
        int taken = drain(MAX_PER_TURN);
        if (isHeldBack() || closed) {
            polled = false;
            return PolledSources.Outcome.LEAVES;
        }
        if (taken > 0) {
            emptyTurns = 0;
            return PolledSources.Outcome.WORKED;
        }
        if (++emptyTurns < EMPTY_TURNS) {
            return PolledSources.Outcome.IDLE;
        }
        return arm() ? PolledSources.Outcome.LEAVES : PolledSources.Outcome.WORKED;
    }

    @Override
    public boolean arm() {
        if (closed) {
            return true;
        }
        emptyTurns = 0;
        boolean ready = consumer.arm(RingLayout.WAITS_FOR_ANY);
        if (ready) {
            consumer.disarm();
        }
        LateFaults.raisePending();
        if (ready) {
            return false;
        }
        polled = false;
        armedNanos = System.nanoTime();
        if (!secondLookDue) {
            secondLookDue = true;
            loop.schedule(secondLook, SECOND_LOOK_NANOS, TimeUnit.NANOSECONDS);
        }
        return true;
    }

    private void lookAgain() {
        secondLookDue = false;
        if (closed || polled || isHeldBack()) {
            return;
        }
        long early = SECOND_LOOK_NANOS - (System.nanoTime() - armedNanos);
        if (early > 0) {
            secondLookDue = true;
            loop.schedule(secondLook, early, TimeUnit.NANOSECONDS);
        } else if (isReady()) {
            wake();
        }
    }

    /** Returns whether an entry stands in the ring. It waits for room, or for the next turn of the loop. */
    boolean hasEntries() {
        return !closed && !broken && isReady();
    }

    private boolean isReady() {
        try {
            boolean ready = consumer.isReady();
            LateFaults.raisePending();
            return ready;
        } catch (InternalError e) {
            fail(e);
            return false;
        }
    }

    /** Starts polling the ring, unless its entries wait for room or space. */
    void wake() {
        if (!closed && !polled && !isHeldBack()) {
            polled = true;
            emptyTurns = 0;
            PolledSources.ofThisLoop().add(this);
        }
    }

    /** Resumes the ring, because there may be room for completions. */
    void onRoom() {
        if (awaitsRoom) {
            awaitsRoom = false;
            wake();
        }
    }

    @Override
    public void fail(Throwable failure) {
        polled = false;
        broken = true;
        if (!(failure instanceof InternalError)) {
            LOG.errorf(failure, "event=ring-failed ring=%d", id);
        }
        if (whenEmpty == null) {
            onFailure.run();
        } else {
            end();
        }
    }

    // Taking entries.

    /** Takes available entries while they have room, and notifies the producer. */
    int drain(int limit) {
        int most = Math.min(limit, entriesLeft);
        int taken = 0;
        while (taken < most && !broken && consumer.isReady() && take()) {
            taken++;
        }
        boolean empty = broken || !consumer.isReady();
        boolean producerWaits = consumer.release();
        LateFaults.raisePending();
        if (producerWaits) {
            completions.wakeApplication(id);
        }
        if (taken > 0) {
            completions.flush();
        }
        if (whenEmpty != null) {
            entriesLeft -= taken;
            if (!isHeldBack() && (empty || entriesLeft == 0)) {
                end();
            }
        }
        return taken;
    }

    private void end() {
        Runnable done = whenEmpty;
        whenEmpty = null;
        if (done != null) {
            done.run();
        }
    }

    /** Takes the oldest entry, which must exist. Returns false if the entry must wait. */
    private boolean take() {
        boolean receive = kind == WorkRingKind.WORK_RING_KIND_RECEIVE;
        while (!completions.reserve(receive)) {
            awaitsRoom = completions.awaitRoom(receive);
            if (awaitsRoom) {
                return false;
            }
            // The application has made room meanwhile.
        }
        int count = consumer.copy(entry.segment());
        LateFaults.raisePending();
        if (count == RingConsumer.BROKEN) {
            completions.unreserve();
            broken = true;
            loop.execute(onFailure);
            return false;
        }
        if (!post()) {
            completions.unreserve();
            return false;
        }
        consumer.advance(count);
        return true;
    }

    /** Posts or refuses the entry. Returns false if the entry must wait for space. */
    private boolean post() {
        RingSink sink = sink(entry.tag());
        Refusal refusal = decoder.decode(item, kind);
        if (refusal != null) {
            refuse(sink, refusal);
            ConnectionWork work = find(item.connection);
            if (work != null) {
                work.onPosted();
            }
            return true;
        }
        if (item.sharedReceives != 0) {
            refuse(sink, transfers.postShared(item, sink));
            return true;
        }
        ConnectionWork work = find(item.connection);
        if (work == null) {
            refuse(sink, Refusal.of(transfers.connections().missing(item.connection), item.isFlush()));
            return true;
        }
        return entry.isInline() ? postInline(work, sink) : post(work, sink, sink);
    }

    private boolean postInline(ConnectionWork work, RingSink sink) {
        InlineSlots.Slot slot = inline.take(work.domain(), sink, entry, item);
        boolean posted = post(work, sink, slot);
        if (!posted || !slot.isPosted()) {
            slot.giveBack();
        }
        return posted;
    }

    /** @param target sink for the completion */
    private boolean post(ConnectionWork work, RingSink sink, CompletionTarget target) {
        boolean receive = item.opcode == WrOpcode.RECEIVE;
        Refusal refusal = work.isRefused() && !receive
                ? Refusal.flushed("an earlier work request was refused, which ends the connection")
                : transfers.poster().post(work, item, target);
        if (WorkPoster.QUEUE_FULL.equals(refusal)) {
            awaitsSpace = true;
            work.awaitSpace(sink);
            return false;
        }
        if (refusal == null) {
            if (target instanceof InlineSlots.Slot slot) {
                slot.posted();
            }
        } else if (receive) {
            refuse(sink, refusal);
            if (!refusal.isFlushed()) {
                work.endsBy(true);
            }
        } else if (refusal.isFlushed() || work.endsBy(false)) {
            transfers.record(refusal, item);
            work.refuseInTurn(sink, CompletionProtos.refused(item, refusal));
        } else {
            refuse(sink, refusal);
        }
        work.onPosted();
        return true;
    }

    private @Nullable ConnectionWork find(long connection) {
        ConnectionWork work = last;
        if (work == null || work.connection() != connection || work.isEnded()) {
            work = transfers.connections().find(connection);
            last = work;
        }
        return work;
    }

    private void refuse(RingSink sink, @Nullable Refusal refusal) {
        if (refusal != null) {
            transfers.record(refusal, item);
            sink.refused(CompletionProtos.refused(item, refusal));
        }
    }

    private RingSink sink(int tag) {
        RingSink sink = sinks[tag];
        if (sink == null) {
            sink = new RingSink(this, tag);
            sinks[tag] = sink;
        }
        return sink;
    }

    /** Resumes the ring, because a send queue may have space or an inline slot may be free. */
    void onSpace() {
        awaitsSpace = false;
        wake();
    }

    /**
     * Counts a completion that was given to the application. Later events of its connection must follow the completion.
     */
    void countTold(long connection) {
        ConnectionWork work = find(connection);
        if (work != null) {
            work.onTold();
        }
    }

    // End.

    /** Takes the entries in the ring and then runs the task. A later call replaces the task. */
    void drainThen(Runnable done) {
        whenEmpty = done;
        entriesLeft = blocks;
        awaitsRoom = false;
        if (broken || closed) {
            end();
        } else if (!awaitsSpace) {
            try {
                drain(blocks);
                wake();
            } catch (InternalError e) {
                fail(e);
            }
        }
    }

    /** Stops all access to the file. Idempotent. */
    void close() {
        closed = true;
        polled = false;
    }
}
