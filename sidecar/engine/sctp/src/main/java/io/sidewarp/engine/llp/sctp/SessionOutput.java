// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Outbound half of a session, which the layer above pulls. Numbers the chunks and stages one chunk at a time. Holds a control message back while the
 * peer could receive it before an earlier control message (RFC 5043 section 6.6).
 */
final class SessionOutput implements LowerLayer {

    /** Kind of a message. */
    enum Kind {
        NOTHING,
        CONTROL,
        SEGMENT,
        TERMINATE
    }

    private static final int NO_CLAIM = -1;

    private final DdpAssociation association;
    private final DdpStreamSession session;
    private @Nullable SessionOutput former;
    private @Nullable ControlMessage control;
    private long controlPosition;
    private boolean controlAnswered;
    private boolean terminateWanted;
    private boolean terminateSent;
    private boolean wanted;
    private boolean ended;
    private Kind staged = Kind.NOTHING;
    private Kind sent = Kind.NOTHING;
    private int nextSsn;
    private int claimed = NO_CLAIM;
    private long committedPosition;
    private long transferredPosition;
    private long lastPosition;

    /** @param former output of the earlier session of the stream, if its chunks may be in flight */
    SessionOutput(DdpAssociation association, DdpStreamSession session, @Nullable SessionOutput former) {
        this.association = association;
        this.session = session;
        this.former = former == null || !former.isSilent() ? former : former.former;
    }

    /** Returns whether SCTP got no message, and no message waits for SCTP. */
    boolean isSilent() {
        return nextSsn == 0 && lastPosition == 0;
    }

    // ---- Control messages

    /** Sends a control message that is not a Terminate. */
    void send(ControlMessage message) {
        control = message;
    }

    /** Returns whether a control message waits to be sent. */
    boolean hasControl() {
        return control != null;
    }

    /** Returns whether the control message is with SCTP, or waits for SCTP. */
    boolean isControlUnderWay() {
        return staged == Kind.CONTROL || sent == Kind.CONTROL;
    }

    /** Takes back a control message that SCTP does not have yet. */
    void dropUnsentControl() {
        if (!isControlUnderWay()) {
            control = null;
        }
    }

    /** Records that the peer has shown that it has this side's control message. */
    void onAnswer() {
        controlAnswered = true;
    }

    /** Sends a Terminate as the last message. */
    void terminate() {
        terminateWanted = true;
    }

    /** Stops all output, because the stream has another session. */
    void silence() {
        dropUnsentControl();
        terminateWanted = false;
    }

    boolean isTerminateSent() {
        return terminateSent;
    }

    /** Returns whether SCTP has taken all messages except a Terminate. */
    boolean isTaken() {
        return control == null && staged != Kind.SEGMENT;
    }

    /** Returns whether nothing is left to send. */
    boolean isFinished() {
        return control == null && staged == Kind.NOTHING && (terminateSent || !terminateWanted);
    }

    /** Returns whether the peer acknowledged all messages. If not, the session gets a turn after an acknowledgement. */
    boolean isAcknowledged() {
        return association.isAcknowledged(lastPosition, session);
    }

    /** Stages the control message if one waits and its time has come. */
    void produceControl() {
        ControlMessage message = control;
        if (message != null && staged == Kind.NOTHING && isStreamClear() && association.mayStage(session)) {
            submit(Kind.CONTROL, message);
        }
    }

    /** Stages the Terminate if it is wanted and its time has come. */
    void produceTerminate() {
        if (terminateIsDue() && association.mayStage(session)) {
            submit(Kind.TERMINATE, ControlMessage.TERMINATE);
        }
    }

    /**
     * Returns whether a Terminate may be sent. The peer must have this side's earlier control message (section 6.6).
     */
    private boolean terminateIsDue() {
        return terminateWanted
                && !terminateSent
                && control == null
                && staged == Kind.NOTHING
                && isStreamClear()
                && (controlPosition == 0 || controlAnswered || association.isAcknowledged(controlPosition, session));
    }

    /** Returns whether no chunk of the earlier session on the stream can be in flight (section 6.6). */
    private boolean isStreamClear() {
        SessionOutput before = former;
        if (before == null) {
            return true;
        }
        if (before.staged != Kind.NOTHING || !association.isAcknowledged(before.lastPosition, session)) {
            return false;
        }
        former = null;
        return true;
    }

    private void submit(Kind kind, ControlMessage message) {
        int length = message.write(association.staging(), 0, takeSsn());
        staged = kind;
        association.submit(session, ChunkFlyweight.SESSION_CONTROL, length);
    }

    private int takeSsn() {
        int ssn = nextSsn;
        nextSsn = ssn + 1 & ChunkFlyweight.SSN_MODULUS - 1;
        return ssn;
    }

    /** Reports that SCTP took the staged message. */
    void onSubmitted(int length, long position) {
        lastPosition = position;
        switch (staged) {
            case SEGMENT -> transferredPosition += length - ChunkFlyweight.SSN_LENGTH;
            case CONTROL -> {
                control = null;
                controlPosition = position;
            }
            case TERMINATE -> terminateSent = true;
            case NOTHING -> {}
        }
        sent = staged;
        staged = Kind.NOTHING;
    }

    /** Returns the kind of the message that SCTP took last, and resets it. */
    Kind takeSent() {
        Kind kind = sent;
        sent = Kind.NOTHING;
        return kind;
    }

    // ---- Segments

    /** Lets the layer above send if it wants to and may. */
    void produceSegments(UpperLayer upper) {
        if (wanted && outputPermitted()) {
            wanted = false;
            try {
                upper.produce();
            } finally {
                claimed = NO_CLAIM;
            }
        }
    }

    @Override
    public boolean outputPermitted() {
        return !ended && session.isOpen();
    }

    @Override
    public void requestOutput() {
        wanted = true;
        if (outputPermitted()) {
            association.enqueue(session);
        }
    }

    @Override
    public int mulpdu() {
        return association.maxSegment();
    }

    /** {@inheritDoc} The version is always 1 on SCTP. */
    @Override
    public int protocolVersion() {
        return 1;
    }

    @Override
    public boolean claim(int ulpduLength) {
        claimed = NO_CLAIM;
        if (ulpduLength < 1 || ulpduLength > mulpdu()) {
            throw new IllegalArgumentException(
                    "DDP Segment of " + ulpduLength + " bytes; the largest has " + mulpdu() + " (RFC 5043 section 9)");
        }
        if (!outputPermitted()) {
            return false;
        }
        if (staged != Kind.NOTHING || !association.mayStage(session)) {
            wanted = true;
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
        requireClaim();
        return ChunkFlyweight.SSN_LENGTH;
    }

    @Override
    public void commit() {
        int length = requireClaim();
        claimed = NO_CLAIM;
        ChunkFlyweight.ssn(association.staging(), 0, takeSsn());
        committedPosition += length;
        staged = Kind.SEGMENT;
        association.submit(session, ChunkFlyweight.DDP_SEGMENT, ChunkFlyweight.SSN_LENGTH + length);
    }

    private int requireClaim() {
        if (claimed == NO_CLAIM) {
            throw new IllegalStateException("no room claimed");
        }
        return claimed;
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

    /** Permits no more segments. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    @Override
    public void closeOutput() {
        if (!ended) {
            ended = true;
            terminate();
            association.enqueue(session);
        }
    }

    @Override
    public void close() {
        session.close();
    }

    @Override
    public void abort() {
        session.abort();
    }

    @Override
    public boolean abortReachesPeer() {
        return false;
    }
}
