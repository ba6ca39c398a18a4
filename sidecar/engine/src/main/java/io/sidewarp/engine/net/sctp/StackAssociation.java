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
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an association does whatever carries it: tells its user what a {@link MessageSocket} has, and passes on what the user
 * wants, in the order and at the times that {@link SctpUser} promises. The user is called only when the code of the stack has
 * returned. Everything happens on the loop that owns the association.
 */
public abstract class StackAssociation implements SctpAssociation {

    private enum State {
        BEGINNING,
        /** Up, the user not told yet. */
        STARTING,
        ESTABLISHED,
        /** This side has aborted it, the user not told yet. */
        ENDING,
        CLOSED
    }

    private final EngineLoops loops;
    private final EventLoop loop;
    private final Duration shutdownTimeout;
    private final WireBuffer messages;
    private final SctpAssociationHandler handler;
    private final @Nullable CompletableFuture<SctpAssociation> connected;
    private final SctpReceived received = new SctpReceived();
    private final Runnable drive = this::driveGuarded;
    private final Runnable wake = this::onWakeTime;
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
    private boolean endedHere;
    private boolean refused;
    private boolean outputWanted;
    private boolean driveScheduled;
    private boolean full;
    private boolean acknowledgedWanted;
    private long acknowledgedTold;
    private boolean wakeWanted;
    private long wakeNanos;
    private long wakeTaskNanos;

    /**
     * @param messages where messages are received into; the associations of a loop may share it
     * @param connected complete when the association is up; null if the peer begins it
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

    /** Who gives it its user. */
    protected final SctpAssociationHandler handler() {
        return handler;
    }

    // What a stack brings.

    protected abstract MessageSocket socket();

    /** Octets of the largest message that is sent in one chunk, now. */
    protected abstract int messageSize();

    /** The association is up; false if there may not be so many. */
    protected abstract boolean admit();

    /** Messages that the peer has acknowledged, as {@link #acknowledged} tells them. */
    protected abstract long countAcknowledged();

    /** Whether {@link MessageSocket#send} may have room again, after it had none. */
    protected abstract boolean mayHaveRoom();

    /** The send buffer is full. */
    protected abstract void onFull();

    /** Lets packets go that were put together. */
    protected abstract void flush();

    /** The association is over: it is to be found no more. The socket is closed next. */
    protected abstract void onFinished();

    /** A path to the peer has changed. */
    protected void onPath(SctpReceived change) {}

    /** Why the association was lost, if the stack knows better than {@link SctpReceived}; for people. */
    protected @Nullable String lossCause() {
        return null;
    }

    // Beginning.

    /** Begins an association with the peer. */
    protected final void begin(Duration timeout, Runnable connect) {
        deadline = loop.schedule(
                () -> finish(false, "no answer within " + timeout.toMillis() + " ms"),
                timeout.toNanos(),
                TimeUnit.NANOSECONDS);
        guard(connect);
        if (connected != null) {
            connected.whenComplete((ignored, failure) -> endIfCancelled(connected));
        }
    }

    private void endIfCancelled(CompletableFuture<SctpAssociation> attempt) {
        if (!attempt.isCancelled()) {
            return;
        }
        if (loop.inEventLoop()) {
            endNow("nobody waits for it");
        } else {
            loop.execute(() -> endNow("nobody waits for it"));
        }
    }

    /** Does something that may fail the association. */
    protected final void guard(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Whether it has neither ended nor been aborted. */
    protected final boolean isLive() {
        return state != State.CLOSED && state != State.ENDING;
    }

    // Input.

    /** Input is about to come; true when it is the first of a batch, for which {@link #inputDone} is due then. */
    protected final boolean touch() {
        boolean first = !touched;
        touched = true;
        return first;
    }

    /**
     * Takes what the stack has for the user.
     *
     * @param limit messages and events, at most
     * @return whether there may be more
     */
    protected final boolean drain(int limit) {
        for (int i = 0; i < limit; i++) {
            if (!isLive() || !socket().receive(messages, received)) {
                establish();
                return false;
            }
            switch (received.kind) {
                case MESSAGE -> onMessage();
                case UP -> onUp();
                case ADAPTATION -> peerAdaptation = OptionalInt.of(received.adaptation);
                case LOST -> onLost();
                case RESTARTED -> endNow("the peer began the association anew");
                case SHUT_DOWN -> onShutDown();
                case PATH -> onPath(received);
                case OTHER -> {
                    // Nothing to do.
                }
            }
        }
        return isLive();
    }

    private void onUp() {
        onUp(received.inboundStreams, received.outboundStreams);
    }

    /** The association is up. */
    protected final void onUp(int inbound, int outbound) {
        inboundStreams = inbound;
        outboundStreams = outbound;
        state = State.STARTING;
        if (!admit()) {
            endNow("there are as many associations as are allowed");
        }
    }

    /** Tells the user, when all is known that comes with the start. */
    private void establish() {
        if (state != State.STARTING) {
            return;
        }
        state = State.ESTABLISHED;
        cancelDeadline();
        SctpUser newUser = handler.onAssociation(this);
        user = newUser;
        newUser.onEstablished(inboundStreams, outboundStreams, peerAdaptation);
        if (connected != null) {
            connected.complete(this);
        }
    }

    private void onMessage() {
        establish();
        if (!received.complete) {
            endNow("the peer sent a message of more than " + messages.capacity() + " octets");
        } else if (user != null && state == State.ESTABLISHED) {
            user.onMessage(received.stream, received.payloadProtocol, messages, 0, received.length);
        }
    }

    private void onLost() {
        String cause = received.cause == null ? lossCause() : received.cause;
        if (cause == null) {
            cause = state == State.ESTABLISHED
                    ? "the peer does not answer"
                    : "SCTP ended the attempt to begin the association: what the peer answers is of no use to it";
        }
        refused = true;
        finish(false, cause);
    }

    private void onShutDown() {
        refused = true;
        finish(true, shuttingDown ? "shut down" : "the peer shut the association down");
    }

    /** The batch is over. */
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

    /** Has the user try again what found no room, also without a sign that there is some. */
    protected final void retry() {
        outputWanted |= full;
        advance();
    }

    /** Calls the user for what it has asked for. */
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
        try {
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        flush();
    }

    /** This side is at fault. */
    protected final void fail(Throwable fault) {
        loops.onFault(fault);
        endNow("this side failed: " + fault);
    }

    // What the user asks for.

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
        // One that was cut before the path became narrower is taken.
        if (length > largestAnnounced && length > maxMessage() || length <= 0) {
            throw new IllegalArgumentException("a message has 1 to " + largestAnnounced + " octets, not " + length);
        }
        if (state != State.ESTABLISHED || shuttingDown) {
            return false;
        }
        MessageSocket.SendResult result = socket().send(stream, payloadProtocol, buffer, offset, length);
        if (result == MessageSocket.SendResult.SENT) {
            submitted++;
            stallWatch.begin();
            return true;
        }
        if (result == MessageSocket.SendResult.FULL) {
            full = true;
            onFull();
        } else if (result == MessageSocket.SendResult.FAILED) {
            loop.execute(this::endUnlessTold);
        }
        return false;
    }

    /** SCTP takes no message any more. That the association has ended, which may be why, is told by an event. */
    private void endUnlessTold() {
        int error = socket().sendError();
        touch();
        try {
            drain(Integer.MAX_VALUE);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        inputDone();
        if (isLive()) {
            endNow("SCTP takes no message (error number " + error + ")");
        }
    }

    /** Messages that the peer has acknowledged, while it has others to acknowledge. */
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

    /** Messages that the stack has taken. */
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
                // It has advanced since the user last looked, and may not do so again.
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
        wakeWanted = true;
        wakeNanos = nanoTime;
        if (wakeTask == null || nanoTime - wakeTaskNanos < 0) {
            scheduleWake();
        }
    }

    private void scheduleWake() {
        cancelWake();
        wakeTaskNanos = wakeNanos;
        long delay = Math.max(0, wakeNanos - System.nanoTime());
        wakeTask = loop.schedule(wake, delay, TimeUnit.NANOSECONDS);
    }

    private void onWakeTime() {
        wakeTask = null;
        SctpUser current = user;
        if (!wakeWanted || current == null || state != State.ESTABLISHED) {
            return;
        }
        if (wakeNanos - System.nanoTime() > 0) {
            scheduleWake();
            return;
        }
        wakeWanted = false;
        guard(() -> {
            current.onWake();
            advance();
        });
        flush();
    }

    // The end.

    @Override
    public final void shutdown() {
        if (state != State.ESTABLISHED || shuttingDown) {
            return;
        }
        shuttingDown = true;
        deadline = loop.schedule(
                () -> endNow("the peer did not complete the shutdown within " + shutdownTimeout.toMillis() + " ms"),
                shutdownTimeout.toNanos(),
                TimeUnit.NANOSECONDS);
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
                finish(false, "aborted: " + reason);
            });
        }
    }

    /** Aborts, and tells the user at once. Not from within a call of the user's. */
    protected final void endNow(String cause) {
        if (state != State.CLOSED) {
            endedHere = true;
            if (state == State.ESTABLISHED || state == State.STARTING) {
                socket().abort(cause);
            }
            finish(false, cause);
            flush();
        }
    }

    /** Ends it without a word to the peer. */
    protected final void finish(boolean graceful, String cause) {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        cancelDeadline();
        cancelWake();
        stallWatch.end();
        onFinished();
        socket().close();
        if (connected != null) {
            connected.completeExceptionally(new SctpConnectException(failureReason(), cause));
        }
        if (user != null) {
            try {
                user.onClosed(graceful, cause);
            } catch (RuntimeException | Error e) {
                loops.onFault(e);
            }
        }
    }

    private SctpConnectException.Reason failureReason() {
        if (refused) {
            return SctpConnectException.Reason.REFUSED;
        }
        return endedHere ? SctpConnectException.Reason.ABORTED : SctpConnectException.Reason.NO_ANSWER;
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    private void cancelWake() {
        if (wakeTask != null) {
            wakeTask.cancel(false);
            wakeTask = null;
        }
    }

    @Override
    public final EventLoop loop() {
        return loop;
    }
}
