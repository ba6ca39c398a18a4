// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What this side of a session receives: it takes the chunks (RFC 5043 section 5.2) by their DDP-SSN, whatever order
 * SCTP delivers them in, and keeps those that come early (section 6.1). Whether what they say is legal is the session's
 * to judge.
 */
final class SessionInput {

    private static final int SSN_MASK = ChunkFlyweight.SSN_MODULUS - 1;

    private final DdpAssociation association;
    private final DdpStreamSession session;
    private final EarlyChunks early;
    private int due;
    private boolean begun;
    private boolean consented;
    private boolean held;
    private boolean broken;

    SessionInput(DdpAssociation association, DdpStreamSession session, EarlyBudget budget) {
        this.association = association;
        this.session = session;
        this.early = new EarlyChunks(budget);
    }

    /** A chunk of the session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (length < ChunkFlyweight.SSN_LENGTH) {
            session.breakOff("a chunk of " + length + " octets");
            return;
        }
        int ssn = ChunkFlyweight.ssn(buffer, offset);
        if (broken) {
            ignore(ssn);
            return;
        }
        boolean known =
                payloadProtocol == ChunkFlyweight.DDP_SEGMENT || payloadProtocol == ChunkFlyweight.SESSION_CONTROL;
        if (!known || length == ChunkFlyweight.SSN_LENGTH) {
            session.breakOff(known ? "a chunk of " + length + " octets" : "payload protocol " + payloadProtocol);
            ignore(ssn);
            return;
        }
        session.onHeard();
        if (ssn == due && (!held || isWithdrawal(payloadProtocol, buffer, offset, length))) {
            advance();
            take(payloadProtocol, buffer, offset, length);
            takeKept();
            return;
        }
        association.mutableCounters().earlyChunks++;
        boolean wanted = payloadProtocol == ChunkFlyweight.SESSION_CONTROL || !session.isDiscarding();
        String wrong = keep(ssn, payloadProtocol, buffer, offset, wanted ? length : 0);
        if (wrong != null) {
            session.breakOff(wrong);
        }
    }

    /** A Terminate right behind the Initiate that it ends, which leaves the Consumer nothing to decide. */
    private boolean isWithdrawal(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        return DdpAssociation.isTerminate(payloadProtocol, buffer, offset, length) && session.isUndecided();
    }

    /** A chunk that broke the order, or came behind the break. */
    private void ignore(int ssn) {
        begun |= ssn == 0;
    }

    private void advance() {
        due = due + 1 & SSN_MASK;
        begun = true;
    }

    /**
     * Keeps a chunk that cannot be handed on yet.
     *
     * @param length bytes that are worth keeping
     * @return what is wrong with it, or null when it was kept
     */
    private @Nullable String keep(int ssn, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if ((ssn - due & SSN_MASK) > association.settings().reorderDistance() || early.contains(ssn)) {
            return "DDP-SSN " + ssn + " when " + due + " is due";
        }
        return early.put(ssn, payloadProtocol, buffer, offset, length, consented);
    }

    private void takeKept() {
        while (!held) {
            EarlyChunks.Chunk chunk = early.take(due);
            if (chunk == null) {
                return;
            }
            advance();
            take(chunk.payloadProtocol(), chunk.buffer(), 0, chunk.length());
        }
    }

    private void take(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (payloadProtocol == ChunkFlyweight.DDP_SEGMENT) {
            session.onSegment(buffer, offset + ChunkFlyweight.SSN_LENGTH, length - ChunkFlyweight.SSN_LENGTH);
            return;
        }
        ControlMessage message = ControlMessage.read(buffer, offset, length);
        if (message == null) {
            session.violate("a session control message of " + length + " octets with function code "
                    + (length < ChunkFlyweight.CONTROL_HEADER_LENGTH
                            ? "none"
                            : ChunkFlyweight.functionCode(buffer, offset)));
        } else {
            session.onControl(message);
        }
    }

    /** The Consumer of this side has begun or accepted the session, so more may be kept for it. */
    void consent() {
        consented = true;
    }

    boolean isConsented() {
        return consented;
    }

    /** Keeps what comes until {@link #resume}, but for the end of a request that is undecided. */
    void hold() {
        held = true;
    }

    /** Ends a {@link #hold}, if there is one. */
    void resume() {
        if (held) {
            held = false;
            takeKept();
        }
    }

    /** The peer does not number its chunks as it has to: nothing more can be told from them. */
    void breakOff() {
        broken = true;
        clear();
    }

    boolean isBroken() {
        return broken;
    }

    /** Whether the peer's first chunk was here, so that another one with its number begins another session. */
    boolean hasBegun() {
        return begun;
    }

    /** Whether chunks are kept for which an earlier one has not come. */
    boolean isIncomplete() {
        return !early.isEmpty();
    }

    /** DDP Segments are of no use any more, though their numbers are. */
    void dropSegments() {
        early.dropSegments();
    }

    /** Forgets what was kept. */
    void clear() {
        early.clear();
    }
}
