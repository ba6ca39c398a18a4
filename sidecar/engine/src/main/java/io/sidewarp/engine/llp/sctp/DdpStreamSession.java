// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.Negotiation;
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

    /** What a message of this session is. */
    private enum Staged {
        NOTHING,
        CONTROL,
        SEGMENT,
        TERMINATE
    }

    private static final int NO_CLAIM = -1;

    private final DdpAssociation association;
    private final int stream;
    private final EarlyChunks early;
    private Phase phase = Phase.EXPECTED;
    private boolean active;
    private @Nullable SessionListener listener;
    private @Nullable SessionOptions options;
    private @Nullable UpperLayer upper;
    private @Nullable ControlMessage request;
    private @Nullable EnhancedData told;

    // Output.
    private boolean queued;
    private @Nullable ControlMessage control;
    private long controlPosition;
    private boolean controlAnswered;
    private boolean outputWanted;
    private boolean outputEnded;
    private boolean terminateWanted;
    private boolean terminateSent;
    private Staged staged = Staged.NOTHING;
    private Staged sent = Staged.NOTHING;
    private int nextSsn;
    private int claimed = NO_CLAIM;
    private long committedPosition;
    private long transferredPosition;
    private long lastPosition;

    // Input.
    private boolean touched;
    private int dueSsn;
    private boolean discarding;
    private boolean broken;
    private boolean peerTerminated;
    private boolean peerFinished;

    // Ending.
    private boolean closing;
    private boolean aborted;
    private boolean abandoned;
    private long lastInput;
    private long deadline = Long.MAX_VALUE;

    DdpStreamSession(DdpAssociation association, int stream, EarlyChunks early) {
        this.association = association;
        this.stream = stream;
        this.early = early;
    }

    /** Identifier of the pair of SCTP streams. */
    public int stream() {
        return stream;
    }

    // ---- Start

    void initiate(SessionOptions wanted, SessionListener told) {
        active = true;
        phase = Phase.REQUESTED;
        listener = told;
        options = wanted;
        EnhancedData data = wanted.enhanced() ? Negotiation.request(wanted.terms()) : null;
        this.told = data;
        control = new ControlMessage(
                wanted.enhanced() ? FunctionCode.ENHANCED_INITIATE : FunctionCode.INITIATE, data, wanted.privateData());
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

    /** Passive side: accepts. Without effect if the session has failed meanwhile. */
    public void accept(SessionOptions chosen) {
        ControlMessage asked = decide();
        if (asked == null) {
            return;
        }
        options = chosen;
        EnhancedData data = asked.data();
        told = data == null ? null : Negotiation.accept(data, chosen.terms());
        control = new ControlMessage(
                data == null ? FunctionCode.ACCEPT : FunctionCode.ENHANCED_ACCEPT, told, chosen.privateData());
        association.enqueue(this);
    }

    /** Passive side: the Consumer rejects (RFC 5043 section 6.3). Without effect if the session has failed meanwhile. */
    public void reject(SessionOptions chosen) {
        ControlMessage asked = decide();
        if (asked == null) {
            return;
        }
        EnhancedData data = asked.data();
        told = data == null ? null : Negotiation.reject(data, chosen.terms());
        control = new ControlMessage(
                data == null ? FunctionCode.REJECT : FunctionCode.ENHANCED_REJECT, told, chosen.privateData());
        end();
        peerFinished = true;
        association.enqueue(this);
    }

    /** The Initiate to answer, or null if the session has failed meanwhile. */
    private @Nullable ControlMessage decide() {
        if (phase == Phase.OVER) {
            return null;
        }
        if (phase != Phase.PENDING || control != null) {
            throw new IllegalStateException("no Initiate to answer on stream " + stream);
        }
        return request;
    }

    /** Either side: gives up a session that is not open yet. The listener is not told. */
    public void withdraw() {
        if (phase == Phase.REQUESTED || phase == Phase.PENDING) {
            peerFinished = phase == Phase.PENDING;
            end();
            dropUnsentControl();
            terminateWanted = !active || controlPosition > 0 || isControlUnderWay();
            association.enqueue(this);
        }
    }

    private boolean isControlUnderWay() {
        return staged == Staged.CONTROL || sent == Staged.CONTROL;
    }

    private void dropUnsentControl() {
        if (!isControlUnderWay()) {
            control = null;
        }
    }

    private void open(SessionStartup agreed) {
        phase = Phase.OPEN;
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
        takeEarly();
    }

    private SessionListener requireListener() {
        SessionListener told = listener;
        if (told == null) {
            throw new IllegalStateException("nobody listens to the session on stream " + stream);
        }
        return told;
    }

    private Negotiation.Terms terms() {
        SessionOptions own = options;
        if (own == null) {
            throw new IllegalStateException("the session on stream " + stream + " has no options");
        }
        return own.terms();
    }

    // ---- Input

    /** A chunk of this session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (broken) {
            return;
        }
        if (payloadProtocol != ChunkFlyweight.DDP_SEGMENT && payloadProtocol != ChunkFlyweight.SESSION_CONTROL) {
            violate("payload protocol " + payloadProtocol);
            return;
        }
        if (length <= ChunkFlyweight.SSN_LENGTH) {
            violate("a chunk of " + length + " octets");
            return;
        }
        if (outputEnded) {
            lastInput = association.nanoTime();
        }
        int ssn = ChunkFlyweight.ssn(buffer, offset);
        int distance = ssn - dueSsn & ChunkFlyweight.SSN_MODULUS - 1;
        if (distance == 0 && phase != Phase.PENDING) {
            dueSsn = next(dueSsn);
            take(payloadProtocol, buffer, offset, length);
            takeEarly();
        } else if (distance > association.settings().reorderDistance() || early.contains(ssn)) {
            violate("DDP-SSN " + ssn + " when " + dueSsn + " is due");
        } else {
            boolean payload = !discarding || payloadProtocol == ChunkFlyweight.SESSION_CONTROL;
            association.mutableCounters().earlyChunks++;
            if (!early.put(ssn, payloadProtocol, buffer, offset, payload ? length : 0)) {
                violate("more than " + association.settings().reorderOctets()
                        + " octets of chunks that wait for earlier ones");
            }
        }
    }

    private static int next(int ssn) {
        return ssn + 1 & ChunkFlyweight.SSN_MODULUS - 1;
    }

    private void takeEarly() {
        while (phase != Phase.PENDING && !broken) {
            EarlyChunks.Chunk chunk = early.take(dueSsn);
            if (chunk == null) {
                return;
            }
            dueSsn = next(dueSsn);
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
            violate("a DDP Segment behind the Terminate");
        } else if (phase == Phase.OPEN && !discarding && upper != null) {
            upper.onUlpdu(buffer, offset + ChunkFlyweight.SSN_LENGTH, length - ChunkFlyweight.SSN_LENGTH);
        }
    }

    private void takeInitiate(ControlMessage message) {
        if (message.code() == FunctionCode.TERMINATE) {
            // The last word about a session that this side knows no more.
            peerFinished = true;
            end();
            return;
        }
        if (!message.code().isInitiate()) {
            violate(message.code() + " instead of an Initiate");
            return;
        }
        phase = Phase.PENDING;
        association.onNoLongerEarly();
        request = message;
        if (!association.onInitiate(this, SessionStartup.asked(message))) {
            association.mutableCounters().refusedInitiates++;
            withdraw();
        }
    }

    private void takeAnswer(ControlMessage message) {
        controlAnswered = true;
        SessionOptions own = options;
        boolean enhanced = own != null && own.enhanced();
        if (message.code().isAccept() && message.code().isEnhanced() == enhanced) {
            EnhancedData asked = told;
            EnhancedData answer = message.data();
            open(SessionStartup.of(
                    message,
                    asked,
                    asked == null || answer == null
                            ? Negotiation.unnegotiated(terms())
                            : Negotiation.ofInitiator(terms(), asked, answer)));
        } else if (message.code() == FunctionCode.TERMINATE) {
            peerFinished = true;
            end();
            requireListener()
                    .onFailed(
                            true,
                            "the peer refused the session: it takes no more requests at present"
                                    + (enhanced ? ", or no enhanced ones (RFC 6581)" : ""));
        } else if (message.code().isReject() && (enhanced || !message.code().isEnhanced())) {
            peerFinished = true;
            end();
            requireListener().onRejected(SessionStartup.of(message, told, Negotiation.unnegotiated(terms())));
        } else {
            violate(message.code() + " as the answer to an " + (enhanced ? "Enhanced " : "") + "Initiate");
        }
        association.enqueue(this);
    }

    private void takeTerminate(ControlMessage message) {
        if (message.code() != FunctionCode.TERMINATE || peerTerminated) {
            violate(message.code() + (peerTerminated ? " behind the Terminate" : " in an open session"));
            return;
        }
        peerTerminated = true;
        peerFinished = true;
        controlAnswered = true;
        if (!discarding && upper != null) {
            upper.onPeerClosed();
        }
        association.enqueue(this);
    }

    /** What the peer sent before it knew that this side has ended the session. */
    private void takeLate(ControlMessage message) {
        controlAnswered = true;
        if (message.code() == FunctionCode.TERMINATE || message.code().isReject()) {
            peerFinished = true;
        }
        association.enqueue(this);
    }

    /** The peer sent what fits no legal sequence: the session is terminated (section 6.1). */
    void violate(String what) {
        broken = true;
        discarding = true;
        early.clear();
        association.mutableCounters().violations++;
        String cause = "the peer broke RFC 5043 on stream " + stream + ": " + what;
        Phase before = phase;
        if (before == Phase.OPEN) {
            endUpper(false, cause);
        } else if (before != Phase.OVER) {
            end();
        }
        outputEnded = true;
        terminateWanted = true;
        dropUnsentControl();
        if (before == Phase.REQUESTED || before == Phase.PENDING) {
            requireListener().onFailed(false, cause);
        }
        association.enqueue(this);
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

    /** Whether the peer may take the session for over, so that an Initiate begins another one. */
    boolean isEnded() {
        return phase == Phase.OVER || peerTerminated;
    }

    /** The peer has begun another session on the stream. */
    void supersede() {
        if (phase == Phase.OPEN) {
            endUpper(false, "the peer began another session on stream " + stream);
        }
        early.clear();
        association.release(this);
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
        deliverSubmitted();
        ControlMessage message = control;
        if (message != null && staged == Staged.NOTHING && association.mayStage(this)) {
            submit(Staged.CONTROL, message);
        }
        if (phase == Phase.OPEN && outputWanted && !outputEnded && upper != null) {
            outputWanted = false;
            try {
                upper.produce();
            } finally {
                claimed = NO_CLAIM;
            }
            deliverSubmitted();
        }
        if (terminateIsDue() && association.mayStage(this)) {
            submit(Staged.TERMINATE, ControlMessage.TERMINATE);
        }
        settle();
    }

    private void submit(Staged kind, ControlMessage message) {
        int length = message.write(association.staging(), 0, nextSsn);
        nextSsn = next(nextSsn);
        staged = kind;
        association.submit(this, ChunkFlyweight.SESSION_CONTROL, length);
        deliverSubmitted();
    }

    /** Not before the peer is known to have this side's former control message (section 6.6). */
    private boolean terminateIsDue() {
        return terminateWanted
                && !terminateSent
                && control == null
                && staged == Staged.NOTHING
                && (controlPosition == 0 || controlAnswered || association.isAcknowledged(controlPosition, this));
    }

    /** SCTP took the message that was staged. What follows from it waits for this session's turn. */
    void onSubmitted(int length, long position) {
        lastPosition = position;
        if (staged == Staged.SEGMENT) {
            transferredPosition += length - ChunkFlyweight.SSN_LENGTH;
        }
        sent = staged;
        staged = Staged.NOTHING;
        association.enqueue(this);
    }

    private void deliverSubmitted() {
        Staged kind = sent;
        sent = Staged.NOTHING;
        switch (kind) {
            case NOTHING -> {}
            case SEGMENT -> {
                if (phase == Phase.OPEN && upper != null) {
                    upper.onTransferred();
                }
            }
            case CONTROL -> onControlSubmitted();
            case TERMINATE -> {
                terminateSent = true;
                lastInput = association.nanoTime();
                setDeadline(lastInput + association.settings().lingerTimeout().toNanos());
            }
        }
    }

    private void onControlSubmitted() {
        ControlMessage message = control;
        control = null;
        controlPosition = lastPosition;
        if (message != null && message.code().isAccept() && phase == Phase.PENDING) {
            openAsPassive();
        }
    }

    private void openAsPassive() {
        ControlMessage asked = request;
        if (asked == null) {
            throw new IllegalStateException("no Initiate was taken on stream " + stream);
        }
        EnhancedData data = asked.data();
        EnhancedData answer = told;
        open(SessionStartup.of(
                asked,
                answer,
                data == null || answer == null
                        ? Negotiation.unnegotiated(terms())
                        : Negotiation.ofResponder(terms(), data, answer)));
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
        claimed = NO_CLAIM;
        if (ulpduLength < 1 || ulpduLength > mulpdu()) {
            throw new IllegalArgumentException(
                    "DDP Segment of " + ulpduLength + " octets; the largest has " + mulpdu() + " (RFC 5043 section 9)");
        }
        if (!outputPermitted()) {
            return false;
        }
        if (staged != Staged.NOTHING || !association.mayStage(this)) {
            outputWanted = true;
            return false;
        }
        claimed = ulpduLength;
        return true;
    }

    @Override
    public WireBuffer buffer() {
        return association.staging();
    }

    @Override
    public int offset() {
        if (claimed == NO_CLAIM) {
            throw new IllegalStateException("no room claimed");
        }
        return ChunkFlyweight.SSN_LENGTH;
    }

    @Override
    public void commit() {
        int length = claimed;
        if (length == NO_CLAIM) {
            throw new IllegalStateException("no room claimed");
        }
        claimed = NO_CLAIM;
        ChunkFlyweight.ssn(association.staging(), 0, nextSsn);
        nextSsn = next(nextSsn);
        committedPosition += length;
        staged = Staged.SEGMENT;
        association.submit(this, ChunkFlyweight.DDP_SEGMENT, ChunkFlyweight.SSN_LENGTH + length);
    }

    @Override
    public long committedPosition() {
        return committedPosition;
    }

    @Override
    public long transferredPosition() {
        return transferredPosition;
    }

    // ---- Ending

    @Override
    public void closeOutput() {
        if (!outputEnded) {
            outputEnded = true;
            terminateWanted = true;
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

    private void setDeadline(long nanos) {
        deadline = nanos;
        association.wakeAt(nanos);
    }

    /** The time is near a deadline, of this session or another one. */
    void onTime(long now) {
        if (deadline == Long.MAX_VALUE) {
            return;
        }
        long due = closing || aborted
                ? deadline
                : lastInput + association.settings().lingerTimeout().toNanos();
        if (now - deadline < 0 || now - due < 0) {
            setDeadline(due - deadline > 0 ? due : deadline);
            return;
        }
        deadline = Long.MAX_VALUE;
        if (phase == Phase.OPEN) {
            endUpper(false, aborted ? "aborted by this side" : "the peer did not end the session in time");
        }
        if (terminateSent) {
            abandon();
        }
        settle();
    }

    /** Ends what has come to its end. */
    private void settle() {
        if (phase == Phase.OPEN) {
            if (aborted) {
                endUpper(false, "aborted by this side");
            } else if (terminateSent && (peerTerminated || closing && association.isAcknowledged(lastPosition, this))) {
                endUpper(true, "closed");
            }
        }
        boolean ownFinished = control == null && staged == Staged.NOTHING && (terminateSent || !terminateWanted);
        if (phase == Phase.OVER && ownFinished && peerFinished && association.isAcknowledged(lastPosition, this)) {
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

    /** Nobody waits for the rest of the session any more. */
    void abandon() {
        if (!abandoned) {
            abandoned = true;
            association.onOver();
        }
    }

    /** The association is gone, and with it the session (section 11.3). */
    void onAssociationClosed(boolean graceful, String cause) {
        early.clear();
        Phase before = phase;
        phase = Phase.OVER;
        outputEnded = true;
        if (before == Phase.OPEN && upper != null) {
            boolean orderly = graceful && !aborted && terminateSent && (peerTerminated || closing);
            upper.onClosed(orderly, aborted ? "aborted by this side" : cause);
        } else if (before == Phase.REQUESTED || before == Phase.PENDING) {
            requireListener().onFailed(false, cause);
        }
    }
}
