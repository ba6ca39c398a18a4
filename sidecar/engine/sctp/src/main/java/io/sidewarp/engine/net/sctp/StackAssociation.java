// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.net.StallWatch;
import io.sidewarp.engine.net.sctp.SctpConnectException.Reason;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The part of an association that is common to all stacks. It tells its user about the messages and events of a
 * {@link MessageSocket}, and carries out the requests of the user. It keeps the order and the times that
 * {@link SctpUser} promises.
 *
 * <p>The user is called only after the code of the stack has returned. Everything happens on the loop that owns the
 * association.
 */
public abstract class StackAssociation implements SctpAssociation, MessageSocket.Receiver {

    private enum State {
        BEGINNING,
        /** Up, but the user has not been told yet. */
        STARTING,
        ESTABLISHED,
        /** Aborted by this side, but the user has not been told yet. */
        ENDING,
        CLOSED
    }

    private final EngineLoops loops;
    private final EventLoop loop;
    private final Duration shutdownTimeout;
    private final WireBuffer messages;
    private final SctpAssociationHandler handler;
    private final @Nullable CompletableFuture<SctpAssociation> connected;
    private final Runnable drive = this::driveGuarded;
    private final Runnable wake = this::onWakeTime;
    private final Runnable advance = this::advance;
    private final StallWatch stallWatch;

    private State state = State.BEGINNING;
    private @Nullable SctpUser user;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable ScheduledFuture<?> wakeTask;
    private int inboundStreams;
    private int outboundStreams;
    private OptionalInt peerAdaptation = OptionalInt.empty();
    private int largestAnnounced;
    private long submitted;
    private boolean touched;
    private boolean shuttingDown;
    private boolean outputWanted;
    private boolean driveScheduled;
    private boolean full;
    private boolean acknowledgedWanted;
    private long acknowledgedTold;

    /**
     * @param messages buffer of received messages; the associations of a loop may share it
     * @param connected completes when the association is up; null if the peer begins it
     */
    protected StackAssociation(
            EngineLoops loops,
            EventLoop loop,
            SctpSettings settings,
            WireBuffer messages,
            SctpAssociationHandler handler,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        this.loops = loops;
        this.loop = loop;
        this.shutdownTimeout = settings.shutdownTimeout();
        this.stallWatch = new StallWatch(loop, loops.settings().stallTimeout(), this::progress, this::onStall);
        this.messages = messages;
        this.handler = handler;
        this.connected = connected;
    }

    /** Returns the handler that provides the association's user. */
    protected final SctpAssociationHandler handler() {
        return handler;
    }

    /** Returns whether this side began the association, or is beginning it. */
    protected final boolean isOutgoing() {
        return connected != null;
    }

    // Methods of a stack.

    protected abstract MessageSocket socket();

    /** Returns the bytes of the largest message that fits into one chunk at present. */
    protected abstract int messageSize();

    /** Notes that the association is up. Returns false if the limit of associations is exceeded. */
    protected abstract boolean admit();

    /** Returns how many messages the peer has acknowledged, in the way of {@link #acknowledged}. */
    protected abstract long countAcknowledged();

    /** Returns whether {@link MessageSocket#send} may have room again, after the send buffer was full. */
    protected abstract boolean mayHaveRoom();

    /** Notes that the send buffer is full. */
    protected abstract void onFull();

    /** Sends the packets that are ready. */
    protected abstract void flush();

    /** Removes the association from all tables, because it is over. The socket is closed next. */
    protected abstract void onFinished();

    /** Returns why the association was lost, for people. Null if the stack knows no more than the socket. */
    protected @Nullable String lossCause() {
        return null;
    }

    // Beginning.

    /** Begins an association with the peer. */
    protected final void begin(Duration timeout, Runnable connect) {
        endIn(timeout, () -> finish(false, Reason.NO_ANSWER, "no answer within " + timeout.toMillis() + " ms"));
        guard(connect);
        if (connected != null) {
            connected.whenComplete((ignored, failure) -> endIfCancelled(connected));
        }
    }

    private void endIn(Duration timeout, Runnable end) {
        deadline = loop.schedule(end, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void endIfCancelled(CompletableFuture<SctpAssociation> attempt) {
        if (!attempt.isCancelled()) {
            return;
        }
        if (loop.inEventLoop()) {
            endNow("nobody waits for it");
        } else {
            loop.execute(() -> endIfCancelled(attempt));
        }
    }

    /** Runs work whose failure ends the association. */
    protected final void guard(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Returns whether the association has neither ended nor been aborted. */
    protected final boolean isLive() {
        return state != State.CLOSED && state != State.ENDING;
    }

    // Input.

    /** Announces input. Returns true when this input is the first of a batch; {@link #inputDone} must then follow. */
    protected final boolean touch() {
        boolean first = !touched;
        touched = true;
        return first;
    }

    /**
     * Delivers messages and events of the stack to the user.
     *
     * @param limit most messages and events
     * @return whether there may be more
     */
    protected final boolean drain(int limit) {
        for (int i = 0; i < limit; i++) {
            if (!isLive() || !socket().receive(messages, this)) {
                establish();
                return false;
            }
        }
        return isLive();
    }

    @Override
    public final void onUp(int inbound, int outbound) {
        inboundStreams = inbound;
        outboundStreams = outbound;
        state = State.STARTING;
        if (!admit()) {
            endNow("this side has reached its limit of associations");
        }
    }

    @Override
    public final void onAdaptation(int indication) {
        peerAdaptation = OptionalInt.of(indication);
    }

    /** Tells the user that the association is up, after all facts of the start are known. */
    private void establish() {
        if (state != State.STARTING) {
            return;
        }
        state = State.ESTABLISHED;
        cancel(deadline);
        SctpUser newUser = handler.onAssociation(this);
        user = newUser;
        newUser.onEstablished(inboundStreams, outboundStreams, peerAdaptation);
        if (connected != null) {
            connected.complete(this);
        }
    }

    @Override
    public final void onMessage(int stream, int payloadProtocol, int length, boolean complete) {
        establish();
        if (!complete) {
            endNow("the peer sent a message of more than " + messages.capacity() + " bytes");
        } else if (user != null && state == State.ESTABLISHED) {
            user.onMessage(stream, payloadProtocol, messages, 0, length);
        }
    }

    @Override
    public final void onLost(@Nullable String told) {
        String cause = told == null ? lossCause() : told;
        if (cause == null) {
            cause = state == State.ESTABLISHED
                    ? "the peer does not answer"
                    : "SCTP ended the attempt to begin the association: it cannot use the answer of the peer";
        }
        finish(false, Reason.REFUSED, cause);
    }

    @Override
    public final void onRestarted() {
        endNow("the peer restarted the association");
    }

    @Override
    public final void onShutDown() {
        finish(true, Reason.REFUSED, shuttingDown ? "shut down" : "the peer shut the association down");
    }

    /** Ends the batch of input. */
    protected final void inputDone() {
        touched = false;
        try {
            if (user != null && state == State.ESTABLISHED) {
                user.onInputDone();
            }
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Makes the user retry output that found no room, even without a sign of room. */
    protected final void retry() {
        outputWanted |= full;
        advance();
    }

    /** Calls the user for the events that the user has requested. */
    private void advance() {
        SctpUser current = user;
        if (current == null || state != State.ESTABLISHED) {
            return;
        }
        if (acknowledgedWanted && countAcknowledged() > acknowledgedTold) {
            acknowledgedWanted = false;
            current.onAcknowledged();
        }
        if (outputWanted || full && mayHaveRoom()) {
            outputWanted = false;
            full = false;
            if (state == State.ESTABLISHED && !shuttingDown) {
                current.produce();
            }
        }
    }

    private void driveGuarded() {
        driveScheduled = false;
        guard(advance);
        flush();
    }

    /** Ends the association after a failure of this side. */
    protected final void fail(Throwable fault) {
        loops.onFault(fault);
        endNow("this side failed: " + fault);
    }

    // Requests of the user.

    @Override
    public final void requestOutput() {
        outputWanted = true;
        scheduleDrive();
    }

    private void scheduleDrive() {
        if (!touched && !driveScheduled && state == State.ESTABLISHED) {
            driveScheduled = true;
            loop.execute(drive);
        }
    }

    @Override
    public final boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        // A message that was cut before the path became narrower is still accepted.
        if (length > largestAnnounced && length > maxMessage() || length <= 0) {
            throw new IllegalArgumentException("a message has 1 to " + largestAnnounced + " bytes, not " + length);
        }
        if (state != State.ESTABLISHED || shuttingDown) {
            return false;
        }
        int error = socket().send(stream, payloadProtocol, buffer, offset, length);
        switch (MessageSocket.SendResult.of(error)) {
            case SENT -> {
                submitted++;
                stallWatch.begin();
                return true;
            }
            case FULL -> {
                full = true;
                onFull();
            }
            case FAILED -> loop.execute(() -> endUnlessTold(error));
            case CLOSED -> {
                // An event tells so.
            }
        }
        return false;
    }

    /**
     * Ends the association because SCTP accepts no more messages. If the association has already ended, which may be
     * the reason, an event tells so first.
     */
    private void endUnlessTold(int error) {
        touch();
        guard(() -> drain(Integer.MAX_VALUE));
        inputDone();
        if (isLive()) {
            endNow("SCTP takes no message (error number " + error + ")");
        }
    }

    /** Returns how many messages the peer has acknowledged, while other messages are unacknowledged. */
    private long progress() {
        long count = state == State.ESTABLISHED ? countAcknowledged() : submitted;
        return count < submitted ? count : StallWatch.NOT_WAITING;
    }

    private void onStall() {
        loops.onLimit(PeerLimit.STALL);
        endNow("the peer acknowledged nothing for "
                + loops.settings().stallTimeout().toMillis()
                + " ms (sidewarp.connection.stall-timeout)");
    }

    /** Returns how many messages the stack has taken. */
    protected final long submitted() {
        return submitted;
    }

    @Override
    public final int maxMessage() {
        int size = messageSize();
        largestAnnounced = Math.max(largestAnnounced, size);
        return size;
    }

    @Override
    public final long acknowledged() {
        acknowledgedTold = countAcknowledged();
        return acknowledgedTold;
    }

    @Override
    public final void requestAcknowledged() {
        if (!acknowledgedWanted) {
            acknowledgedWanted = true;
            if (countAcknowledged() > acknowledgedTold) {
                // The count has advanced since the user last looked, and may not advance again.
                scheduleDrive();
            }
        }
    }

    @Override
    public final long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public final void wakeAt(long nanoTime) {
        cancel(wakeTask);
        wakeTask = loop.schedule(wake, Math.max(0, nanoTime - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private void onWakeTime() {
        wakeTask = null;
        SctpUser current = user;
        if (current != null && state == State.ESTABLISHED) {
            guard(() -> {
                current.onWake();
                advance();
            });
            flush();
        }
    }

    // The end.

    @Override
    public final void shutdown() {
        if (state != State.ESTABLISHED || shuttingDown) {
            return;
        }
        shuttingDown = true;
        endIn(
                shutdownTimeout,
                () -> endNow("the peer did not complete the shutdown within " + shutdownTimeout.toMillis() + " ms"));
        socket().shutdown();
        loop.execute(this::flush);
    }

    @Override
    public final void abort(String reason) {
        if (isLive()) {
            socket().abort(reason);
            state = State.ENDING;
            loop.execute(() -> {
                flush();
                finish(false, Reason.ABORTED, "aborted: " + reason);
            });
        }
    }

    /** Aborts the association, and tells the user at once. Must not be called from within a call by the user. */
    protected final void endNow(String cause) {
        if (state != State.CLOSED) {
            if (state == State.ESTABLISHED || state == State.STARTING) {
                socket().abort(cause);
            }
            finish(false, Reason.ABORTED, cause);
            flush();
        }
    }

    /**
     * Ends the association without a message to the peer.
     *
     * @param reason what an attempt to begin the association fails with
     */
    protected final void finish(boolean graceful, Reason reason, String cause) {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        cancel(deadline);
        cancel(wakeTask);
        stallWatch.end();
        onFinished();
        socket().close();
        if (connected != null) {
            connected.completeExceptionally(new SctpConnectException(reason, cause));
        }
        if (user != null) {
            try {
                user.onClosed(graceful, cause);
            } catch (RuntimeException | Error e) {
                loops.onFault(e);
            }
        }
    }

    private static void cancel(@Nullable ScheduledFuture<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }

    @Override
    public final EventLoop loop() {
        return loop;
    }
}
