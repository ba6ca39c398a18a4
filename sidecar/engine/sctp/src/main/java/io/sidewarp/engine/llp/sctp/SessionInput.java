// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Inbound half of a session. Takes the chunks (RFC 5043 section 5.2) by their DDP-SSN, in whatever order SCTP delivers
 * them, and keeps early chunks (section 6.1). The session decides whether the content of a chunk is legal.
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
    private boolean discarding;

    SessionInput(DdpAssociation association, DdpStreamSession session, EarlyBudget budget) {
        this.association = association;
        this.session = session;
        this.early = new EarlyChunks(budget, WireBuffer::allocate);
    }

    /** Takes a chunk of the session, early or late. */
    void onChunk(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (length < ChunkFlyweight.SSN_LENGTH) {
            session.breakOff("a chunk of " + length + " bytes");
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
            session.breakOff(known ? "a chunk of " + length + " bytes" : "payload protocol " + payloadProtocol);
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
        association.counters().earlyChunks++;
        boolean wanted = payloadProtocol == ChunkFlyweight.SESSION_CONTROL || !discarding;
        String wrong = keep(ssn, payloadProtocol, buffer, offset, wanted ? length : 0);
        if (wrong != null) {
            session.breakOff(wrong);
        }
    }

    /**
     * Returns whether a Terminate directly follows an undecided Initiate, so that the Consumer has nothing to decide.
     */
    private boolean isWithdrawal(int payloadProtocol, WireBuffer buffer, int offset, int length) {
        return ChunkFlyweight.isTerminate(payloadProtocol, buffer, offset, length) && session.isUndecided();
    }

    /** Ignores a chunk that broke the order, or that followed such a chunk. */
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
     * @param length bytes to keep
     * @return fault of the chunk, or null when the chunk was kept
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
            session.violate("a session control message of " + length + " bytes with function code "
                    + (length < ChunkFlyweight.CONTROL_HEADER_LENGTH
                            ? "none"
                            : ChunkFlyweight.functionCode(buffer, offset)));
        } else {
            session.onControl(message);
        }
    }

    /** Records that the Consumer of this side has begun or accepted the session, so more bytes may be kept. */
    void consent() {
        consented = true;
    }

    boolean isConsented() {
        return consented;
    }

    /** Keeps all chunks until {@link #resume}, except the withdrawal of an undecided request. */
    void hold() {
        held = true;
    }

    /** Ends a {@link #hold}, if one is active. */
    void resume() {
        if (held) {
            held = false;
            takeKept();
        }
    }

    /** Drops all input, because the peer broke its numbering of chunks and their order is lost. */
    void breakOff() {
        broken = true;
        clear();
    }

    boolean isBroken() {
        return broken;
    }

    /** Returns whether the peer's first chunk has arrived. Another first chunk then begins another session. */
    boolean hasBegun() {
        return begun;
    }

    /** Returns whether chunks are kept that wait for an earlier chunk. */
    boolean isIncomplete() {
        return !early.isEmpty();
    }

    /** Drops the content of DDP Segments from now on, but keeps their numbers. */
    void discardSegments() {
        discarding = true;
        early.dropSegments();
    }

    boolean isDiscarding() {
        return discarding;
    }

    /** Drops all kept chunks. */
    void clear() {
        early.clear();
    }
}
