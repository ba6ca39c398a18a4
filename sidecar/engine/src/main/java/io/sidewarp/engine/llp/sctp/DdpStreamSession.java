// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One DDP stream session (RFC 5043 section 6): from an Initiate to the Terminates, on the pair of SCTP streams with one
 * identifier. The layer above uses it as a {@link LowerLayer}; positions there are bytes of DDP Segments.
 *
 * <p>A Terminate ends one direction, as a FIN does: the other side may still send, and may answer with its own at the
 * end. It need not: a peer that has this side's and is silent then, or shuts the association down, has ended the session
 * too. An error costs this session only; the others of the association go on.
 */
public final class DdpStreamSession implements LowerLayer {

    private enum Phase {
        /** The Initiate or its answer is due, see {@link InitialExchange}. */
        STARTING,
        /** Segments may be sent and received. */
        OPEN,
        /** It has ended for this side, or did not come about. Chunks of it may be in flight. */
        OVER
    }

    private final DdpAssociation association;
    private final int stream;
    private final SessionInput input;
    private final SessionOutput output;
    private final InitialExchange exchange;
    private final Linger linger;
    private final SessionTally tally;
    private Phase phase = Phase.STARTING;
    private @Nullable UpperLayer upper;

    private boolean queued;
    private boolean touched;
    private boolean outputWanted;
    private boolean outputEnded;
    private boolean discarding;
    private boolean peerTerminated;
    private boolean peerFinished;

    private boolean closing;
    private boolean aborted;
    private boolean lastWordDue;

    /** @param former what the stream carried before, if chunks of it may be in flight */
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

    // ---- Start

    void initiate(SessionOptions options, SessionListener sessionListener) {
        input.consent();
        exchange.initiate(options, sessionListener);
    }

    /** Passive side: says who learns how the session goes on; during {@link AssociationListener#onInitiate}. */
    public void listen(SessionListener sessionListener) {
        exchange.listen(sessionListener);
    }

    /** Binds the layer above, at the latest before {@link SessionListener#onEstablished} returns. */
    public void attach(UpperLayer upperLayer) {
        if (upper != null) {
            throw new IllegalStateException("an upper layer is attached already");
        }
        upper = upperLayer;
    }

    /**
     * Passive side: accepts. Without effect if the session has failed meanwhile.
     *
     * @throws IllegalArgumentException when the Private Data is longer than {@link SessionStartup#replyRoom}
     */
    public void accept(SessionOptions chosen) {
        if (phase != Phase.OVER) {
            exchange.accept(chosen);
        }
    }

    /**
     * Passive side: the Consumer rejects (RFC 5043 section 6.3). Without effect if the session has failed meanwhile.
     *
     * @throws IllegalArgumentException when the Private Data is longer than {@link SessionStartup#replyRoom}
     */
    public void reject(SessionOptions chosen) {
        if (phase != Phase.OVER) {
            exchange.reject(chosen);
        }
    }

    /**
     * Either side: gives up a session that is not open yet. The listener is not told. A peer that waits for the answer
     * gets a Terminate (section 6.4). On the active side nothing can be said before the answer is here: should it be an
     * Accept, a Terminate follows.
     */
    public void withdraw() {
        if (phase == Phase.STARTING) {
            exchange.withdraw();
        }
    }

    /** Whether nobody knows of it: the Initiate has not been given to SCTP. */
    boolean isUnsaid() {
        return phase == Phase.STARTING && exchange.isUnanswered() && output.isSilent();
    }

    /** The peer has begun a session on the stream before this one was begun. */
    void yieldStream() {
        output.silence();
        end();
        exchange.fail("the peer began a session on stream " + stream + " at the same time");
    }

    /** The Initiate is here: nothing behind it is taken before the Consumer has decided. */
    void awaitDecision() {
        association.onNoLongerEarly();
        linger.cancel();
        input.hold();
    }

    /** Whether the Initiate waits for the Consumer. */
    boolean isUndecided() {
        return phase == Phase.STARTING && exchange.isUndecided();
    }

    /** Whether the Initiate is here, and the session neither open nor over. */
    boolean isRequest() {
        return phase == Phase.STARTING && exchange.isPending();
    }

    /** The Initiate is accepted. */
    void open(SessionListener listener, SessionStartup agreed) {
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
            discard();
            bound.onError(error);
        }
        input.resume();
        if (phase == Phase.OPEN) {
            // What was kept is no part of a batch.
            bound.onInputDone();
        }
    }

    /**
     * The session does not open.
     *
     * @param lastOfPeer whether the peer sends nothing more of it
     */
    void endUnopened(boolean lastOfPeer) {
        peerFinished = lastOfPeer;
        end();
        input.resume();
    }

    // ---- Input

    /** A chunk of this session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        input.onChunk(payloadProtocol, buffer, offset, length);
    }

    /** The peer has sent a chunk that its input takes now, or later. */
    void onHeard() {
        if (outputEnded) {
            linger.onHeard();
        }
    }

    /** Whether DDP Segments are of no use any more. */
    boolean isDiscarding() {
        return discarding;
    }

    /** DDP Segments are of no use from now on. */
    private void discard() {
        discarding = true;
        input.dropSegments();
    }

    /** The DDP Segment that is due. */
    void onSegment(WireBuffer buffer, int offset, int length) {
        if (phase == Phase.STARTING) {
            violate("a DDP Segment before the " + (exchange.isExpected() ? "Initiate" : "answer to the Initiate"));
        } else if (peerTerminated) {
            breakOff("a DDP Segment behind the Terminate");
        } else if (phase == Phase.OPEN && !discarding && upper != null) {
            upper.onUlpdu(buffer, offset, length);
        }
    }

    /** The session control message that is due. */
    void onControl(ControlMessage message) {
        switch (phase) {
            case STARTING -> exchange.onControl(message);
            case OPEN -> takeTerminate(message);
            case OVER -> takeLate(message);
        }
    }

    private void takeTerminate(ControlMessage message) {
        if (peerTerminated) {
            breakOff(message.code() + " behind the Terminate");
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
        if (!discarding && upper != null) {
            upper.onPeerClosed();
        }
    }

    /** What the peer sent before it knew that this side has ended the session. */
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

    /** The peer's messages can be followed no more: the session is terminated, and what still comes of it is ignored. */
    void breakOff(String what) {
        if (!input.isBroken()) {
            input.breakOff();
            peerFinished = false;
            violate(what);
        }
    }

    /** The peer sent what fits no legal sequence: the session is terminated (section 6.1). */
    void violate(String what) {
        association.mutableCounters().violations++;
        tally.broken();
        String cause = "the peer broke RFC 5043 on stream " + stream + ": " + what;
        if (phase == Phase.OVER) {
            // This side has said its last word, unless that depends on the answer to its Initiate.
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

    boolean markTouched() {
        boolean first = !touched;
        touched = true;
        return first;
    }

    /** Whether chunks have come, but no Initiate. */
    boolean isExpected() {
        return phase == Phase.STARTING && exchange.isExpected();
    }

    /** Waits for the Initiate that other chunks have overtaken, but not for ever. */
    void awaitInitiate() {
        if (!linger.hasBegun()) {
            linger.begin();
        }
    }

    /** Whether the peer may take the session for over, so that an Initiate begins another one. */
    boolean isEnded() {
        return input.hasBegun() && (phase == Phase.OVER || peerTerminated);
    }

    /** The peer has begun another session on the stream. */
    void supersede() {
        if (phase == Phase.OPEN) {
            endUpper(false, "the peer began another session on stream " + stream);
        }
        output.silence();
    }

    // ---- Output

    boolean markQueued() {
        boolean first = !queued;
        queued = true;
        return first;
    }

    /** A turn to send. */
    void produce() {
        queued = false;
        deliverSent();
        output.produceControl();
        deliverSent();
        if (outputWanted && outputPermitted() && upper != null) {
            outputWanted = false;
            try {
                upper.produce();
            } finally {
                output.dropClaim();
            }
            deliverSent();
        }
        output.produceTerminate();
        deliverSent();
        settle();
    }

    /** SCTP took the message that was staged. What follows from it waits for this session's turn. */
    void onSubmitted(int length, long position) {
        output.onSubmitted(length, position);
        association.enqueue(this);
    }

    private void deliverSent() {
        switch (output.takeSent()) {
            // What follows the Terminate is settled when it is through.
            case NOTHING, TERMINATE -> {}
            case SEGMENT -> {
                if (phase == Phase.OPEN && upper != null) {
                    upper.onTransferred();
                }
            }
            case CONTROL -> {
                if (phase == Phase.STARTING) {
                    exchange.onControlSent();
                }
            }
        }
    }

    @Override
    public boolean outputPermitted() {
        return phase == Phase.OPEN && !outputEnded;
    }

    @Override
    public void requestOutput() {
        outputWanted = true;
        if (outputPermitted()) {
            association.enqueue(this);
        }
    }

    @Override
    public int mulpdu() {
        return association.maxSegment();
    }

    /** {@inheritDoc} On SCTP it is always 1. */
    @Override
    public int protocolVersion() {
        return 1;
    }

    @Override
    public boolean claim(int ulpduLength) {
        output.dropClaim();
        if (ulpduLength < 1 || ulpduLength > mulpdu()) {
            throw new IllegalArgumentException(
                    "DDP Segment of " + ulpduLength + " octets; the largest has " + mulpdu() + " (RFC 5043 section 9)");
        }
        if (!outputPermitted()) {
            return false;
        }
        boolean claimed = output.claim(ulpduLength);
        outputWanted |= !claimed;
        return claimed;
    }

    @Override
    public WireBuffer buffer() {
        return association.staging();
    }

    @Override
    public int offset() {
        return output.offset();
    }

    @Override
    public void commit() {
        output.commit();
    }

    @Override
    public long committedPosition() {
        return output.committedPosition();
    }

    @Override
    public long transferredPosition() {
        return output.transferredPosition();
    }

    // ---- Ending

    @Override
    public void closeOutput() {
        if (!outputEnded) {
            outputEnded = true;
            output.terminate();
            association.enqueue(this);
        }
    }

    @Override
    public void close() {
        closing = true;
        discard();
        closeOutput();
        association.enqueue(this);
    }

    @Override
    public void abort() {
        if (phase == Phase.OPEN) {
            aborted = true;
            discard();
            closeOutput();
            linger.cutShort();
        }
    }

    @Override
    public boolean abortReachesPeer() {
        return false;
    }

    /** Waits for the peer's last word, but not for ever. */
    void awaitLastWord() {
        linger.begin();
    }

    /** The time is near a deadline, of this session or another one. */
    void onTime(long now) {
        if (!linger.isOver(now, outputEnded && !closing && !aborted)) {
            return;
        }
        if (isExpected()) {
            breakOff("no Initiate");
        } else if (phase == Phase.OPEN) {
            endWithoutPeer();
        }
        if (phase == Phase.OVER) {
            if (output.isFinished() && (!output.isTerminateSent() || isLastWordThrough())) {
                tally.over();
            } else {
                awaitLastWord();
            }
        }
        settle();
    }

    /** The peer has not said its last word in time. The Terminate of this side, which it has, is enough (section 6.2). */
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

    /** Ends what has come to its end. */
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
            awaitLastWord();
        }
    }

    /**
     * Whether the Terminate is out, and the peer has it. Much may be in front of it, for which the peer needs its time; but
     * for that of a session that never opened, nobody waits.
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
        if (isExpected()) {
            association.onNoLongerEarly();
        }
        phase = Phase.OVER;
        outputEnded = true;
        if (!input.isConsented()) {
            tally.unopened();
        }
        discard();
        association.enqueue(this);
    }

    /** The stream has no chunks of it any more, or is another session's. */
    void onReleased() {
        input.clear();
        tally.gone();
        tally.over();
    }

    /** The association is gone, and with it the session (section 11.3). */
    void onAssociationClosed(boolean graceful, String cause) {
        boolean orderly = graceful && isEndedByATerminate();
        input.clear();
        tally.gone();
        Phase before = phase;
        phase = Phase.OVER;
        outputEnded = true;
        if (before == Phase.OPEN && upper != null) {
            if (orderly && !peerTerminated) {
                tellPeerClosed();
            }
            upper.onClosed(orderly, aborted ? "aborted by this side" : cause);
        } else if (before == Phase.STARTING) {
            exchange.fail(cause);
        }
    }

    /** Whether one side has sent its Terminate, and neither has left anything out. */
    private boolean isEndedByATerminate() {
        boolean wholeInput = discarding || !input.isIncomplete();
        boolean wholeOutput = outputEnded && output.isTaken();
        return !aborted && wholeInput && wholeOutput && (peerTerminated || output.isTerminateSent());
    }
}
