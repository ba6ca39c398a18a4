// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.LateFaults;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingProducer;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Completion ring. Takes the completions of work rings, and tracks the free room. Work is taken from a work ring only
 * if its completion has room, so a completion never waits. Confined to the session's thread. Allocates nothing per
 * completion unless work fails.
 */
final class CompletionRingWriter {

    /**
     * Delay before the loop checks again after arming. A consumer without memory fences may have missed the request for
     * a wake-up.
     */
    private static final long SECOND_LOOK_MILLIS = 1;

    private final long id;
    private final SharedBacking file;
    private final RingProducer producer;
    private final EventLoop loop;
    private final byte[] token;
    private final Grant grant;
    private final List<WorkRingReader> workRings = new ArrayList<>();
    private final CompletionEntryFlyweight entry = new CompletionEntryFlyweight(
            MemorySegment.ofArray(new long[CompletionEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE / Long.BYTES]));

    private final Consumer<CompletionRingWriter> onLoss;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private RingSocketHandler.@Nullable Waker socket;
    private int reserved;
    private boolean awaitsRoom;
    private boolean published;
    private boolean urgent;
    private boolean ended;

    /**
     * @param grant quotas that the ring holds
     * @param onLoss called if the ring must end by itself, for instance because its socket closed
     */
    CompletionRingWriter(
            long id,
            SharedBacking file,
            int entries,
            EventLoop loop,
            byte[] token,
            Grant grant,
            Consumer<CompletionRingWriter> onLoss) {
        this.id = id;
        this.file = file;
        this.loop = loop;
        this.token = token;
        this.grant = grant;
        this.onLoss = onLoss;
        this.producer = new RingProducer(file.segment(), entries);
    }

    long id() {
        return id;
    }

    /** Returns the loop that owns the ring. */
    EventLoop loop() {
        return loop;
    }

    SharedBacking file() {
        return file;
    }

    int entries() {
        return producer.blocks();
    }

    /** Adds a work ring that completes here. */
    void add(WorkRingReader ring) {
        workRings.add(ring);
    }

    List<WorkRingReader> workRings() {
        return workRings;
    }

    Grant grant() {
        return grant;
    }

    /** Returns the token that the application sends to connect the socket. */
    byte[] token() {
        return token;
    }

    boolean isEnded() {
        return ended;
    }

    /** Returns a future that completes when the ring has ended and its file is gone. */
    CompletableFuture<Void> gone() {
        return gone;
    }

    // Socket.

    /** Sets the socket when the application has connected. */
    void connected(RingSocketHandler.Waker newSocket) {
        if (ended) {
            newSocket.close();
        } else {
            socket = newSocket;
        }
    }

    /** Looks at a ring, because the application asks for it. */
    void onWake(long ring) {
        assert loop.inEventLoop();
        if (ring == id) {
            resumeWaiting();
            return;
        }
        for (WorkRingReader work : workRings) {
            if (work.id() == ring) {
                work.wake();
            }
        }
    }

    /** Ends the ring because the application has closed the socket or died. */
    void disconnected() {
        socket = null;
        onLoss.accept(this);
    }

    /** Wakes the application to look at a ring. */
    void wakeApplication(long ring) {
        if (socket != null) {
            socket.wake(ring);
        }
    }

    // Room.

    /**
     * Reserves room for a completion. Returns false if there is none.
     *
     * @param receive true for a receive, which must leave the last place to send work: the peer may wait for a message
     *     before it sends one
     */
    boolean reserve(boolean receive) {
        if (ended) {
            return true;
        }
        int room = room(receive);
        if (reserved + producer.unconsumed() >= room && reserved + refresh() >= room) {
            return false;
        }
        reserved++;
        return true;
    }

    private int room(boolean receive) {
        return receive ? producer.blocks() - 1 : producer.blocks();
    }

    private int refresh() {
        int unconsumed = producer.refresh();
        LateFaults.raisePending();
        return unconsumed;
    }

    /** Releases reserved room that was not used. */
    void unreserve() {
        if (!ended) {
            reserved--;
        }
    }

    /**
     * Requests a wake-up when there is room.
     *
     * @return false if there is room already
     */
    boolean awaitRoom(boolean receive) {
        producer.armForRoom();
        if (reserved + refresh() < room(receive)) {
            producer.disarm();
            return false;
        }
        // A consumer that waits for solicited completions only must make room nevertheless.
        if (producer.takeSleeper(true)) {
            wakeApplication(id);
        }
        if (!awaitsRoom) {
            awaitsRoom = true;
            loop.schedule(this::lookAgain, SECOND_LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
        return true;
    }

    private void lookAgain() {
        awaitsRoom = false;
        if (!ended) {
            resumeWaiting();
        }
    }

    private void resumeWaiting() {
        for (WorkRingReader work : workRings) {
            work.onRoom();
        }
    }

    // CompletionProtos.

    /** Releases the room of unsignaled work that succeeded. */
    void silently() {
        if (!ended) {
            reserved--;
            if (awaitsRoom) {
                resumeWaiting();
            }
        }
    }

    /** Writes the completion of work that succeeded. */
    void succeeded(long callersId, long connection, int tag, Cqe completion) {
        if (ended) {
            return;
        }
        WrOpcode opcode = completion.opcode();
        entry.set(
                callersId,
                connection,
                CompletionProtos.opcode(opcode).getNumber(),
                CompletionEntryFlyweight.STATUS_SUCCESS,
                tag,
                completion.length());
        int flags = 0;
        if (opcode == WrOpcode.RECEIVE) {
            if (completion.isSolicited()) {
                flags |= CompletionEntryFlyweight.FLAG_SOLICITED;
                urgent = true;
            }
            if (completion.isInvalidated()) {
                flags |= CompletionEntryFlyweight.FLAG_INVALIDATED;
                entry.invalidatedStag(completion.invalidatedStag());
            }
            if (completion.isImmediate()) {
                flags |= CompletionEntryFlyweight.FLAG_IMMEDIATE;
                entry.result(completion.result());
            }
        } else if (opcode.isAtomic()) {
            flags = CompletionEntryFlyweight.FLAG_ORIGINAL;
            entry.result(completion.result());
        }
        if (flags != 0) {
            entry.flags(flags);
        }
        publish(1);
    }

    /** Writes the completion of work that failed or was refused. */
    void failed(WorkCompletion completion, int tag) {
        if (ended) {
            return;
        }
        entry.set(
                completion.getId(),
                completion.getConnection(),
                completion.getOpcodeValue(),
                completion.getStatusValue(),
                tag,
                completion.getLength());
        entry.advice(completion.getCode(), completion.getRetryValue());
        if (completion.hasError()) {
            entry.flags(CompletionEntryFlyweight.FLAG_ERROR)
                    .error(
                            completion.getError().getLayer(),
                            completion.getError().getType(),
                            completion.getError().getCode(),
                            completion.getError().getRemote());
        }
        entry.text(completion.getMessage(), Math.clamp(unreserved(), 0, CompletionEntryFlyweight.MAX_BLOCKS - 1));
        urgent |= completion.getStatus() != CompletionStatus.COMPLETION_STATUS_SUCCESS;
        publish(entry.blocks());
    }

    /** Returns the number of blocks that are free and not reserved for other completions. */
    private int unreserved() {
        try {
            return producer.blocks() - reserved - refresh();
        } catch (InternalError e) {
            onLoss.accept(this);
            return 0;
        }
    }

    private void publish(int blocks) {
        reserved--;
        try {
            producer.publish(entry.segment(), blocks);
            LateFaults.raisePending();
            published = true;
        } catch (InternalError e) {
            onLoss.accept(this);
        }
    }

    /** Wakes the application if it sleeps. */
    void flush() {
        if (!published) {
            return;
        }
        published = false;
        boolean wasUrgent = urgent;
        urgent = false;
        if (ended) {
            return;
        }
        try {
            boolean sleeps = producer.takeSleeper(wasUrgent);
            LateFaults.raisePending();
            if (sleeps) {
                wakeApplication(id);
            }
        } catch (InternalError e) {
            onLoss.accept(this);
        }
    }

    /** Ends the ring and notifies the application. Idempotent. */
    void end(String reason) {
        if (ended) {
            return;
        }
        flush();
        ended = true;
        markEnded(file);
        if (socket != null) {
            socket.ended(id, reason);
        }
    }

    /** Closes the socket, after the files of the rings are gone. */
    void closeSocket() {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }

    /** Marks a ring as ended, if its file still exists. */
    static void markEnded(SharedBacking file) {
        try {
            RingLayout.end(file.segment());
            LateFaults.raisePending();
        } catch (InternalError e) {
            // The application has truncated the file. It learns the end through the socket.
        }
    }
}
