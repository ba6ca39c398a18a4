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
 * identifier. The layer above uses it as a {@link LowerLayer}; positions there are octets of DDP Segments.
 *
 * <p>A Terminate ends one direction, as a FIN does: the other side may still send, and answers with its own at the end.
 * An error costs this session only; the others of the association go on.
 */
public final class DdpStreamSession implements LowerLayer {

    private enum Phase {
        /** Passive: chunks are here, the Initiate is not. */
        EXPECTED,
        /** Active: the Initiate waits for its answer. */
        REQUESTED,
        /** Passive: the Initiate waits for the Consumer, or the Accept for SCTP. */
        PENDING,
        /** Segments may be sent and received. */
        OPEN,
        /** It has ended for this side, or did not come about. Chunks of it may be in flight. */
        OVER
    }

    private static final long NEVER = Long.MAX_VALUE;

    private final DdpAssociation association;
    private final int stream;
    private final SessionOpening opening = new SessionOpening();
    private final SessionOutput output;
    private final ChunkSequence input;
    private Phase phase = Phase.EXPECTED;
    private boolean active;
    /** Whether the Consumer of this side has begun or accepted it. */
    private boolean consented;

    private boolean unanswered;
    private @Nullable SessionListener listener;
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
    private boolean abandoned;
    private long lastInput;
    private long deadline = NEVER;

    /** @param former what the stream carried before, if chunks of it may be in flight */
    DdpStreamSession(DdpAssociation association, int stream, ChunkSequence input, @Nullable DdpStreamSession former) {
        this.association = association;
        this.stream = stream;
        this.input = input;
        this.output = new SessionOutput(association, this, former == null ? null : former.output);
    }

    /** Identifier of the pair of SCTP streams. */
    public int stream() {
        return stream;
    }

    // ---- Start

    void initiate(SessionOptions options, SessionListener sessionListener) {
        active = true;
        consented = true;
        unanswered = true;
        phase = Phase.REQUESTED;
        listener = sessionListener;
        output.send(opening.initiate(options));
        association.enqueue(this);
    }

    /** Passive side: says who learns how the session goes on; during {@link AssociationListener#onInitiate}. */
    public void listen(SessionListener sessionListener) {
        listener = sessionListener;
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
        if (mayDecide()) {
            output.send(opening.accept(chosen));
            association.enqueue(this);
        }
    }

    /**
     * Passive side: the Consumer rejects (RFC 5043 section 6.3). Without effect if the session has failed meanwhile.
     *
     * @throws IllegalArgumentException when the Private Data is longer than {@link SessionStartup#replyRoom}
     */
    public void reject(SessionOptions chosen) {
        if (mayDecide()) {
            output.send(opening.reject(chosen));
            peerFinished = true;
            end();
            takeKept();
        }
    }

    /** Whether there is an Initiate to answer: not when the session has failed meanwhile. */
    private boolean mayDecide() {
        if (phase == Phase.OVER) {
            return false;
        }
        if (phase != Phase.PENDING || output.hasControl() || output.isControlUnderWay()) {
            throw new IllegalStateException("no Initiate to answer on stream " + stream);
        }
        return true;
    }

    /**
     * Either side: gives up a session that is not open yet. The listener is not told. A peer that waits for the answer
     * gets a Terminate (section 6.4). On the active side nothing can be said before the answer is here: should it be an
     * Accept, a Terminate follows.
     */
    public void withdraw() {
        if (phase == Phase.REQUESTED) {
            output.dropUnsentControl();
            end();
            if (output.isSilent()) {
                association.release(this);
            } else {
                lastInput = association.nanoTime();
                setDeadline(lastInput + lingerNanos());
            }
        } else if (phase == Phase.PENDING) {
            peerFinished = !output.isControlUnderWay();
            output.dropUnsentControl();
            output.terminate();
            end();
            takeKept();
        }
    }

    /** Whether nobody knows of it: the Initiate has not been given to SCTP. */
    boolean isUnsaid() {
        return phase == Phase.REQUESTED && output.isSilent();
    }

    /** The peer has begun a session on the stream before this one was begun. */
    void yieldStream() {
        output.silence();
        end();
        requireListener().onFailed(false, "the peer began a session on stream " + stream + " at the same time");
    }

    private void open(SessionStartup agreed) {
        phase = Phase.OPEN;
        consented = true;
        requireListener().onEstablished(agreed);
        if (phase != Phase.OPEN) {
            return;
        }
        UpperLayer bound = upper;
        if (bound == null) {
            throw new IllegalStateException("no upper layer is attached to a session that is open");
        }
        LlpError error = agreed.error();
        if (error != null) {
            discarding = true;
            bound.onError(error);
        }
        takeKept();
    }

    private SessionListener requireListener() {
        SessionListener told = listener;
        if (told == null) {
            throw new IllegalStateException("nobody listens to the session on stream " + stream);
        }
        return told;
    }

    // ---- Input

    /** A chunk of this session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (length < ChunkFlyweight.SSN_LENGTH) {
            breakOff("a chunk of " + length + " octets");
            return;
        }
        int ssn = ChunkFlyweight.ssn(buffer, offset);
        if (input.isBroken()) {
            input.ignore(ssn);
            return;
        }
        boolean known =
                payloadProtocol == ChunkFlyweight.DDP_SEGMENT || payloadProtocol == ChunkFlyweight.SESSION_CONTROL;
        if (!known || length == ChunkFlyweight.SSN_LENGTH) {
            breakOff(known ? "a chunk of " + length + " octets" : "payload protocol " + payloadProtocol);
            input.ignore(ssn);
            return;
        }
        if (outputEnded) {
            lastInput = association.nanoTime();
        }
        if (input.isDue(ssn) && phase != Phase.PENDING) {
            input.advance();
            take(payloadProtocol, buffer, offset, length);
            takeKept();
            return;
        }
        association.mutableCounters().earlyChunks++;
        boolean wanted = !discarding || payloadProtocol == ChunkFlyweight.SESSION_CONTROL;
        String wrong = input.keep(ssn, payloadProtocol, buffer, offset, wanted ? length : 0, consented);
        if (wrong != null) {
            breakOff(wrong);
        }
    }

    private void takeKept() {
        while (phase != Phase.PENDING) {
            EarlyChunks.Chunk chunk = input.takeKept();
            if (chunk == null) {
                return;
            }
            take(chunk.payloadProtocol(), chunk.buffer(), 0, chunk.length());
        }
    }

    /** The chunk that is due (section 6.1). */
    private void take(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (payloadProtocol == ChunkFlyweight.DDP_SEGMENT) {
            takeSegment(buffer, offset, length);
            return;
        }
        ControlMessage message = ControlMessage.read(buffer, offset, length);
        if (message == null) {
            violate("a session control message of " + length + " octets with function code "
                    + (length < ChunkFlyweight.CONTROL_HEADER_LENGTH
                            ? "none"
                            : ChunkFlyweight.functionCode(buffer, offset)));
            return;
        }
        switch (phase) {
            case EXPECTED -> takeInitiate(message);
            case REQUESTED -> takeAnswer(message);
            case OPEN -> takeTerminate(message);
            case OVER -> takeLate(message);
            case PENDING -> throw new IllegalStateException("a chunk was taken before the Consumer's decision");
        }
    }

    private void takeSegment(WireBuffer buffer, int offset, int length) {
        if (phase == Phase.EXPECTED || phase == Phase.REQUESTED) {
            violate("a DDP Segment before the " + (active ? "answer to the Initiate" : "Initiate"));
        } else if (peerTerminated) {
            breakOff("a DDP Segment behind the Terminate");
        } else if (phase == Phase.OPEN && !discarding && upper != null) {
            upper.onUlpdu(buffer, offset + ChunkFlyweight.SSN_LENGTH, length - ChunkFlyweight.SSN_LENGTH);
        }
    }

    private void takeInitiate(ControlMessage message) {
        if (!message.code().isInitiate()) {
            violate(message.code() + " instead of an Initiate");
            return;
        }
        phase = Phase.PENDING;
        deadline = NEVER;
        association.onNoLongerEarly();
        opening.onInitiate(message);
        if (!association.onInitiate(this, SessionStartup.asked(message))) {
            association.mutableCounters().refusedInitiates++;
            withdraw();
        } else if (phase == Phase.PENDING) {
            requireListener();
        }
    }

    private void takeAnswer(ControlMessage message) {
        unanswered = false;
        FunctionCode code = message.code();
        boolean enhanced = opening.isEnhanced();
        if (code.isInitiate()) {
            // No answer: the peer may not have seen this side's Initiate yet.
            end();
            output.terminate();
            requireListener().onFailed(false, "both sides began a session on stream " + stream + " at the same time");
            return;
        }
        output.onAnswer();
        if (code.isAccept() && code.isEnhanced() == enhanced) {
            open(opening.accepted(message));
            association.enqueue(this);
        } else if (code == FunctionCode.TERMINATE) {
            peerFinished = true;
            end();
            requireListener()
                    .onFailed(
                            true,
                            "the peer refused the session: it takes no more requests at present"
                                    + (enhanced ? ", or no enhanced ones (RFC 6581)" : ""));
        } else if (code.isReject() && (enhanced || !code.isEnhanced())) {
            peerFinished = true;
            end();
            requireListener().onRejected(opening.rejected(message));
        } else {
            violate(code + " as the answer to an " + (enhanced ? "Enhanced " : "") + "Initiate");
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
        if (!discarding && upper != null) {
            upper.onPeerClosed();
        }
        association.enqueue(this);
    }

    /** What the peer sent before it knew that this side has ended the session. */
    private void takeLate(ControlMessage message) {
        boolean answer = unanswered;
        unanswered = false;
        FunctionCode code = message.code();
        if (answer && !code.isInitiate()) {
            output.onAnswer();
        }
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
    private void violate(String what) {
        association.mutableCounters().violations++;
        String cause = "the peer broke RFC 5043 on stream " + stream + ": " + what;
        Phase before = phase;
        if (before == Phase.OVER) {
            // This side has said its last word, unless that depends on the answer to its Initiate.
            if (unanswered) {
                output.terminate();
                association.enqueue(this);
            }
            return;
        }
        discarding = true;
        output.dropUnsentControl();
        output.terminate();
        if (before == Phase.OPEN) {
            endUpper(false, cause);
        } else {
            end();
        }
        if (before == Phase.REQUESTED || before == Phase.PENDING) {
            requireListener().onFailed(false, cause);
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
        return phase == Phase.EXPECTED;
    }

    /** Waits for the Initiate that other chunks have overtaken, but not for ever. */
    void awaitInitiate() {
        if (deadline == NEVER) {
            setDeadline(association.nanoTime() + lingerNanos());
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
            case NOTHING -> {}
            case SEGMENT -> {
                if (phase == Phase.OPEN && upper != null) {
                    upper.onTransferred();
                }
            }
            case CONTROL -> {
                if (phase == Phase.PENDING) {
                    open(opening.agreed());
                }
            }
            case TERMINATE -> {
                lastInput = association.nanoTime();
                setDeadline(lastInput + lingerNanos());
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
        discarding = true;
        closeOutput();
        association.enqueue(this);
    }

    @Override
    public void abort() {
        if (phase == Phase.OPEN) {
            aborted = true;
            discarding = true;
            closeOutput();
            setDeadline(association.nanoTime());
        }
    }

    @Override
    public boolean abortReachesPeer() {
        return false;
    }

    private long lingerNanos() {
        return association.settings().lingerTimeout().toNanos();
    }

    private void setDeadline(long nanos) {
        deadline = nanos;
        association.wakeAt(nanos);
    }

    /** The time is near a deadline, of this session or another one. */
    void onTime(long now) {
        if (deadline == NEVER) {
            return;
        }
        long due = deadline;
        if (!closing && !aborted && outputEnded && lastInput + lingerNanos() - due > 0) {
            due = lastInput + lingerNanos();
        }
        if (now - due < 0) {
            setDeadline(due);
            return;
        }
        deadline = NEVER;
        if (phase == Phase.EXPECTED) {
            breakOff("no Initiate");
        } else if (phase == Phase.OPEN) {
            endUpper(false, aborted ? "aborted by this side" : "the peer did not end the session in time");
        }
        if (phase == Phase.OVER && output.isFinished()) {
            abandon();
        } else if (phase == Phase.OVER) {
            setDeadline(now + lingerNanos());
        }
        settle();
    }

    /** Ends what has come to its end. */
    private void settle() {
        if (phase == Phase.OPEN) {
            if (aborted) {
                endUpper(false, "aborted by this side");
            } else if (output.isTerminateSent() && (peerTerminated || closing && output.isAcknowledged())) {
                endUpper(true, "closed");
            }
        }
        if (phase == Phase.OVER && peerFinished && output.isFinished() && output.isAcknowledged()) {
            association.release(this);
        }
    }

    private void endUpper(boolean graceful, String cause) {
        end();
        discarding = true;
        if (upper != null) {
            upper.onClosed(graceful, cause);
        }
    }

    private void end() {
        if (phase == Phase.EXPECTED) {
            association.onNoLongerEarly();
        }
        phase = Phase.OVER;
        outputEnded = true;
        association.enqueue(this);
    }

    /** The stream has no chunks of it any more, or is another session's. */
    void onReleased() {
        input.clear();
        abandon();
    }

    /** Nobody waits for the rest of the session any more. */
    private void abandon() {
        if (!abandoned) {
            abandoned = true;
            association.onOver();
        }
    }

    /** The association is gone, and with it the session (section 11.3). */
    void onAssociationClosed(boolean graceful, String cause) {
        input.clear();
        Phase before = phase;
        phase = Phase.OVER;
        outputEnded = true;
        if (before == Phase.OPEN && upper != null) {
            boolean orderly = graceful && !aborted && output.isTerminateSent() && (peerTerminated || closing);
            upper.onClosed(orderly, aborted ? "aborted by this side" : cause);
        } else if (before == Phase.REQUESTED || before == Phase.PENDING) {
            requireListener().onFailed(false, cause);
        }
    }
}
