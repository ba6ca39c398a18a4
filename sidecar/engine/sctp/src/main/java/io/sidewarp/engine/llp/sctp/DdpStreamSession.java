// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import org.jspecify.annotations.Nullable;

/**
 * One DDP stream session (RFC 5043 section 6), from an Initiate to the Terminates, on the pair of SCTP streams with one
 * identifier. The layer above uses the session by its {@link #lowerLayer}.
 *
 * <p>A Terminate ends one direction, as a FIN does. The other side may still send, and may end with its own Terminate.
 * A peer that has this side's Terminate may also stay silent, or shut the association down, to end the session. An
 * error ends only this session. The other sessions of the association continue.
 */
public final class DdpStreamSession {

    private enum Phase {
        /** Passive: chunks have arrived, but the Initiate has not. */
        EXPECTED,
        /** Active: the Initiate waits for its answer. */
        REQUESTED,
        /** Passive: the Initiate waits for the Consumer, or the Accept waits for SCTP. */
        PENDING,
        /** Segments may be sent and received. */
        OPEN,
        /** The session has ended for this side, or never opened. Its chunks may still be in flight. */
        OVER
    }

    private final DdpAssociation association;
    private final int stream;
    private final SessionInput input;
    private final SessionOutput output;
    private final InitialExchange exchange;
    private final SessionTally tally;
    final Linger linger;
    /** True while the association has the session in its queue for output. */
    boolean queued;
    /** True while the association has the session in its list of sessions with new input. */
    boolean touched;

    private Phase phase = Phase.EXPECTED;
    private @Nullable UpperLayer upper;
    private boolean peerTerminated;
    private boolean peerFinished;
    private boolean closing;
    private boolean aborted;
    private boolean lastWordDue;

    /** @param former earlier session of the stream, if its chunks may still be in flight */
    DdpStreamSession(DdpAssociation association, int stream, EarlyBudget budget, @Nullable DdpStreamSession former) {
        this.association = association;
        this.stream = stream;
        this.input = new SessionInput(association, this, budget);
        this.output = new SessionOutput(association, this, former == null ? null : former.output);
        this.exchange = new InitialExchange(association, this, output);
        this.linger = new Linger(association);
        this.tally = new SessionTally(association);
    }

    /** Identifier of the pair of SCTP streams. */
    public int stream() {
        return stream;
    }

    /** Returns the services for the layer above. Positions there are bytes of DDP Segments. */
    public LowerLayer lowerLayer() {
        return output;
    }

    // ---- Start

    void initiate(SessionOptions options, DdpSessionListener sessionListener) {
        phase = Phase.REQUESTED;
        input.consent();
        exchange.initiate(options, sessionListener);
    }

    /** Passive side: sets the listener for the session, during {@link AssociationListener#onInitiate}. */
    public void listen(DdpSessionListener sessionListener) {
        exchange.listen(sessionListener);
    }

    /** Attaches the layer above, at the latest before {@link DdpSessionListener#onEstablished} returns. */
    public void attach(UpperLayer upperLayer) {
        if (upper != null) {
            throw new IllegalStateException("an upper layer is attached already");
        }
        upper = upperLayer;
    }

    /**
     * Passive side: accepts. Has no effect if the session has failed meanwhile.
     *
     * @throws IllegalArgumentException when the Private Data is longer than {@link SessionStartup#replyRoom}
     */
    public void accept(SessionOptions chosen) {
        if (phase != Phase.OVER) {
            exchange.accept(chosen);
        }
    }

    /**
     * Passive side: the Consumer rejects (RFC 5043 section 6.3). Has no effect if the session has failed meanwhile.
     *
     * @throws IllegalArgumentException when the Private Data is longer than {@link SessionStartup#replyRoom}
     */
    public void reject(SessionOptions chosen) {
        if (phase != Phase.OVER) {
            exchange.reject(chosen);
        }
    }

    /**
     * Either side: abandons a session that is not open yet. The listener is not called. A peer that waits for the
     * answer gets a Terminate (section 6.4). The active side must wait for the answer, and sends a Terminate if the
     * answer is an Accept.
     */
    public void withdraw() {
        if (phase == Phase.REQUESTED) {
            exchange.withdrawRequest();
        } else if (phase == Phase.PENDING) {
            exchange.withdrawAnswer();
        }
    }

    /** Returns whether the peer knows nothing of the session, because SCTP did not get the Initiate. */
    boolean isUnsaid() {
        return phase == Phase.REQUESTED && output.isSilent();
    }

    /** Ends this session because the peer began a session on the stream first. */
    void yieldStream() {
        output.silence();
        end();
        exchange.fail("the peer began a session on stream " + stream + " at the same time");
    }

    /** Takes the Initiate, and holds later input until the Consumer has decided. */
    void awaitDecision() {
        phase = Phase.PENDING;
        association.onNoLongerEarly();
        linger.cancel();
        input.hold();
    }

    /** Returns whether the Initiate waits for the Consumer. */
    boolean isUndecided() {
        return phase == Phase.PENDING && !output.hasControl() && !output.isControlUnderWay();
    }

    /** Returns whether the Initiate has arrived and the session is neither open nor over. */
    boolean isRequest() {
        return phase == Phase.PENDING;
    }

    /** Opens the session after the Initiate was accepted. */
    void open(DdpSessionListener listener, SessionStartup agreed) {
        phase = Phase.OPEN;
        input.consent();
        listener.onEstablished(agreed);
        if (phase != Phase.OPEN || aborted) {
            return;
        }
        UpperLayer bound = upper;
        if (bound == null) {
            throw new IllegalStateException("no upper layer is attached to a session that is open");
        }
        LlpError error = agreed.error();
        if (error != null) {
            input.discardSegments();
            bound.onError(error);
        }
        input.resume();
        if (phase == Phase.OPEN) {
            // The kept chunks belong to no batch.
            bound.onInputDone();
        }
    }

    boolean isOpen() {
        return phase == Phase.OPEN;
    }

    /**
     * Ends a session that does not open.
     *
     * @param lastOfPeer whether the peer sends nothing more in this session
     */
    void endUnopened(boolean lastOfPeer) {
        peerFinished = lastOfPeer;
        end();
        input.resume();
    }

    // ---- Input

    /** Takes a chunk of this session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        input.onChunk(payloadProtocol, buffer, offset, length);
    }

    /** Reports a chunk of the peer that its input takes, now or later. */
    void onHeard() {
        if (output.isEnded()) {
            linger.onHeard();
        }
    }

    /** Takes the next DDP Segment in order. */
    void onSegment(WireBuffer buffer, int offset, int length) {
        if (phase == Phase.EXPECTED) {
            violate("a DDP Segment before the Initiate");
        } else if (phase == Phase.REQUESTED || phase == Phase.PENDING) {
            violate("a DDP Segment before the answer to the Initiate");
        } else if (peerTerminated) {
            breakOff("a DDP Segment after the Terminate");
        } else if (phase == Phase.OPEN && upper != null && !input.isDiscarding()) {
            upper.onUlpdu(buffer, offset, length);
        }
    }

    /** Takes the next session control message in order. */
    void onControl(ControlMessage message) {
        switch (phase) {
            case EXPECTED -> exchange.onInitiate(message);
            case REQUESTED -> exchange.onAnswer(message);
            case PENDING -> exchange.onWithdrawal();
            case OPEN -> takeTerminate(message);
            case OVER -> takeLate(message);
        }
    }

    private void takeTerminate(ControlMessage message) {
        if (peerTerminated) {
            breakOff(message.code() + " after the Terminate");
            return;
        }
        if (message.code() != FunctionCode.TERMINATE) {
            violate(message.code() + " in an open session");
            return;
        }
        peerTerminated = true;
        peerFinished = true;
        tellPeerClosed();
        association.enqueue(this);
    }

    private void tellPeerClosed() {
        if (upper != null && !input.isDiscarding()) {
            upper.onPeerClosed();
        }
    }

    /** Takes a message that the peer sent before it knew that this side had ended the session. */
    private void takeLate(ControlMessage message) {
        boolean answer = exchange.onLateControl(message);
        FunctionCode code = message.code();
        if (code == FunctionCode.TERMINATE || code.isReject()) {
            peerFinished = true;
        } else if (answer) {
            output.terminate();
        }
        association.enqueue(this);
    }

    /** Terminates the session, because the order of the peer's messages is lost. Later chunks of it are ignored. */
    void breakOff(String what) {
        if (!input.isBroken()) {
            input.breakOff();
            peerFinished = false;
            violate(what);
        }
    }

    /** Terminates the session, because the peer sent a message outside every legal sequence (section 6.1). */
    void violate(String what) {
        association.counters().violations++;
        tally.broken();
        String cause = "the peer broke RFC 5043 on stream " + stream + ": " + what;
        if (phase == Phase.OVER) {
            // This side has sent its last message, unless that message depends on the answer to its Initiate.
            if (exchange.isUnanswered()) {
                output.terminate();
                association.enqueue(this);
            }
            return;
        }
        output.dropUnsentControl();
        output.terminate();
        if (phase == Phase.OPEN) {
            endUpper(false, cause);
        } else {
            end();
            exchange.fail(cause);
        }
    }

    void onInputDone() {
        touched = false;
        if (phase == Phase.OPEN && upper != null) {
            upper.onInputDone();
        }
    }

    /** Returns whether chunks have arrived without the Initiate. */
    boolean isExpected() {
        return phase == Phase.EXPECTED;
    }

    /** Returns whether the peer may consider the session over, so that an Initiate begins another session. */
    boolean isEnded() {
        return input.hasBegun() && (phase == Phase.OVER || peerTerminated);
    }

    /** Ends the session because the peer has begun another session on the stream. */
    void supersede() {
        if (phase == Phase.OPEN) {
            endUpper(false, "the peer began another session on stream " + stream);
        }
        output.silence();
    }

    // ---- Output

    /** Takes a turn to send. */
    void produce() {
        queued = false;
        deliverSent();
        output.produceControl();
        deliverSent();
        if (upper != null) {
            output.produceSegments(upper);
            deliverSent();
        }
        output.produceTerminate();
        deliverSent();
        settle();
    }

    /** Reports that SCTP took the staged message. Further steps wait for this session's turn. */
    void onSubmitted(int length, long position) {
        output.onSubmitted(length, position);
        association.enqueue(this);
    }

    private void deliverSent() {
        switch (output.takeSent()) {
            // The session ends in settle(), after the Terminate.
            case NOTHING, TERMINATE -> {}
            case SEGMENT -> {
                if (phase == Phase.OPEN && upper != null) {
                    upper.onTransferred();
                }
            }
            case CONTROL -> {
                if (phase == Phase.PENDING) {
                    exchange.onAcceptSent();
                }
            }
        }
    }

    // ---- Ending

    /** Ends the session as {@link LowerLayer#close} does. */
    public void close() {
        closing = true;
        input.discardSegments();
        output.closeOutput();
        association.enqueue(this);
    }

    /** Ends the session as {@link LowerLayer#abort} does. */
    public void abort() {
        if (phase == Phase.OPEN) {
            aborted = true;
            input.discardSegments();
            output.closeOutput();
            linger.cutShort();
        }
    }

    /** Handles a deadline of this session or of another session. */
    void onTime(long now) {
        if (!linger.isOver(now, output.isEnded() && !closing && !aborted)) {
            return;
        }
        if (phase == Phase.EXPECTED) {
            breakOff("no Initiate");
        } else if (phase == Phase.OPEN) {
            endWithoutPeer();
        }
        if (phase == Phase.OVER) {
            if (output.isFinished() && (!output.isTerminateSent() || isLastWordThrough())) {
                tally.over();
            } else {
                linger.begin();
            }
        }
        settle();
    }

    /** Ends the session without the peer's last message, because the peer has this side's Terminate (section 6.2). */
    private void endWithoutPeer() {
        if (aborted) {
            endUpper(false, "aborted by this side");
        } else if (input.isIncomplete()) {
            endUpper(false, "the peer did not end the session in time");
        } else {
            tellPeerClosed();
            endUpper(true, "closed");
        }
    }

    /** Ends the session or releases its stream when the conditions are met. */
    private void settle() {
        boolean through = isLastWordThrough();
        if (phase == Phase.OPEN) {
            if (aborted) {
                endUpper(false, "aborted by this side");
            } else if (output.isTerminateSent() && (peerTerminated || closing && through)) {
                endUpper(true, "closed");
            }
        }
        if (phase == Phase.OVER && peerFinished && output.isFinished() && output.isAcknowledged()) {
            association.release(this);
        } else if (through && !lastWordDue) {
            lastWordDue = true;
            linger.begin();
        }
    }

    /**
     * Returns whether the Terminate was sent and the peer has it. Much data may precede the Terminate, and the peer
     * needs time to receive it. No one waits for the Terminate of a session that never opened.
     */
    private boolean isLastWordThrough() {
        return output.isTerminateSent() && (upper == null || output.isAcknowledged());
    }

    private void endUpper(boolean graceful, String cause) {
        end();
        if (upper != null) {
            upper.onClosed(graceful, cause);
        }
    }

    private void end() {
        if (phase == Phase.EXPECTED) {
            association.onNoLongerEarly();
        }
        phase = Phase.OVER;
        output.end();
        if (!input.isConsented()) {
            tally.unopened();
        }
        input.discardSegments();
        association.enqueue(this);
    }

    /** Releases all resources, because the stream has no chunks of this session any more, or has another session. */
    void onReleased() {
        input.clear();
        tally.gone();
        tally.over();
    }

    /** Ends the session with its association (section 11.3). */
    void onAssociationClosed(boolean graceful, String cause) {
        boolean orderly = graceful && isEndedByATerminate();
        input.clear();
        tally.gone();
        Phase before = phase;
        phase = Phase.OVER;
        output.end();
        if (before == Phase.OPEN && upper != null) {
            if (orderly && !peerTerminated) {
                tellPeerClosed();
            }
            upper.onClosed(orderly, aborted ? "aborted by this side" : cause);
        } else if (before != Phase.OPEN && before != Phase.OVER) {
            exchange.fail(cause);
        }
    }

    /** Returns whether one side has sent its Terminate, and no data of either side is missing. */
    private boolean isEndedByATerminate() {
        boolean wholeInput = input.isDiscarding() || !input.isIncomplete();
        boolean wholeOutput = output.isEnded() && output.isTaken();
        return !aborted && wholeInput && wholeOutput && (peerTerminated || output.isTerminateSent());
    }
}
