// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The order of what the peer sends in one session: the DDP-SSN that is due, and the chunks that came before it (RFC 5043
 * section 6.1). Chunks are taken by number alone, whatever order SCTP delivers them in.
 */
final class ChunkSequence {

    private static final int SSN_MASK = ChunkFlyweight.SSN_MODULUS - 1;

    private final AdaptationSettings settings;
    private final EarlyChunks early;
    private int due;
    private boolean begun;
    private boolean broken;

    ChunkSequence(AdaptationSettings settings, EarlyBudget budget) {
        this.settings = settings;
        this.early = new EarlyChunks(budget);
    }

    boolean isDue(int ssn) {
        return ssn == due;
    }

    /** The chunk that was due is taken. */
    void advance() {
        due = due + 1 & SSN_MASK;
        begun = true;
    }

    /**
     * Keeps a chunk that cannot be taken yet.
     *
     * @param length octets that are worth keeping
     * @param consented whether the Consumer of this side has begun or accepted the session
     * @return what is wrong with it, or null when it was kept
     */
    @Nullable
    String keep(int ssn, int payloadProtocol, WireBuffer buffer, int offset, int length, boolean consented) {
        if ((ssn - due & SSN_MASK) > settings.reorderDistance() || early.contains(ssn)) {
            return "DDP-SSN " + ssn + " when " + due + " is due";
        }
        return early.put(ssn, payloadProtocol, buffer, offset, length, consented);
    }

    /** Takes the chunk that is due if it was kept, or null. */
    EarlyChunks.@Nullable Chunk takeKept() {
        EarlyChunks.Chunk chunk = early.take(due);
        if (chunk != null) {
            advance();
        }
        return chunk;
    }

    /** The peer does not number its chunks as it has to: nothing more can be told from them. */
    void breakOff() {
        broken = true;
        clear();
    }

    boolean isBroken() {
        return broken;
    }

    /** Takes note of a chunk that broke the sequence, or came behind the break. */
    void ignore(int ssn) {
        begun |= ssn == 0;
    }

    /** Whether the peer's first chunk was here, so that another one with its number begins another session. */
    boolean hasBegun() {
        return begun;
    }

    /** Forgets what was kept. */
    void clear() {
        early.clear();
    }
}
