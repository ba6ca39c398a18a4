// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What this side of a session sends: it numbers the chunks, stages one at a time, and holds control messages back as long
 * as they could be received before a former one (RFC 5043 section 6.6).
 */
final class SessionOutput {

    /** What a message is. */
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
    private Kind staged = Kind.NOTHING;
    private Kind sent = Kind.NOTHING;
    private int nextSsn;
    private int claimed = NO_CLAIM;
    private long committedPosition;
    private long transferredPosition;
    private long lastPosition;

    /** @param former output of the session that the stream carried before, if chunks of it may be in flight */
    SessionOutput(DdpAssociation association, DdpStreamSession session, @Nullable SessionOutput former) {
        this.association = association;
        this.session = session;
        this.former = former == null || !former.isSilent() ? former : former.former;
    }

    /** Whether nothing was given to SCTP, nor waits for it to take it. */
    boolean isSilent() {
        return nextSsn == 0 && lastPosition == 0;
    }

    // ---- Control messages

    /** Sends a control message that is not a Terminate. */
    void send(ControlMessage message) {
        control = message;
    }

    /** Whether a control message waits to be sent. */
    boolean hasControl() {
        return control != null;
    }

    /** Whether the control message is with SCTP, or waits for it. */
    boolean isControlUnderWay() {
        return staged == Kind.CONTROL || sent == Kind.CONTROL;
    }

    /** Takes back a control message of which nobody knows yet. */
    void dropUnsentControl() {
        if (!isControlUnderWay()) {
            control = null;
        }
    }

    /** The peer has shown that it has this side's control message. */
    void onAnswer() {
        controlAnswered = true;
    }

    /** Sends a Terminate as the last message. */
    void terminate() {
        terminateWanted = true;
    }

    /** Sends nothing more: the stream has another session. */
    void silence() {
        dropUnsentControl();
        terminateWanted = false;
    }

    boolean isTerminateSent() {
        return terminateSent;
    }

    /** Whether SCTP has taken all but a Terminate. */
    boolean isTaken() {
        return control == null && staged != Kind.SEGMENT;
    }

    /** Whether nothing is left to send. */
    boolean isFinished() {
        return control == null && staged == Kind.NOTHING && (terminateSent || !terminateWanted);
    }

    /** Whether the peer has acknowledged all that was sent; if not, the session gets a turn when it may have. */
    boolean isAcknowledged() {
        return association.isAcknowledged(lastPosition, session);
    }

    /** Stages the control message if there is one and its time has come. */
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

    /** Not before the peer is known to have this side's former control message (section 6.6). */
    private boolean terminateIsDue() {
        return terminateWanted
                && !terminateSent
                && control == null
                && staged == Kind.NOTHING
                && isStreamClear()
                && (controlPosition == 0 || controlAnswered || association.isAcknowledged(controlPosition, session));
    }

    /** Whether no chunk of the former session on the stream can be in flight (section 6.6). */
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

    /** SCTP took the message that was staged. */
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

    /** What SCTP took last, which is told once. */
    Kind takeSent() {
        Kind kind = sent;
        sent = Kind.NOTHING;
        return kind;
    }

    // ---- Segments

    /** Claims room for a DDP Segment; false when SCTP takes no more, or others have their turn. */
    boolean claim(int length) {
        if (staged != Kind.NOTHING || !association.mayStage(session)) {
            return false;
        }
        claimed = length;
        return true;
    }

    void dropClaim() {
        claimed = NO_CLAIM;
    }

    /** Offset of the claimed segment. */
    int offset() {
        requireClaim();
        return ChunkFlyweight.SSN_LENGTH;
    }

    void commit() {
        int length = requireClaim();
        claimed = NO_CLAIM;
        WireBuffer staging = association.staging();
        ChunkFlyweight.ssn(staging, 0, takeSsn());
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

    long committedPosition() {
        return committedPosition;
    }

    long transferredPosition() {
        return transferredPosition;
    }
}
