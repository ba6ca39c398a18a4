// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of one session that wait for an earlier one, or for the session to open. What they may hold in all is the
 * association's to say, and a number costs nothing before its chunk is there (RFC 5043 section 10).
 */
final class EarlyChunks {

    /** What keeping a chunk costs besides its octets, roughly. */
    private static final int OVERHEAD = 256;

    /** A chunk without its DDP-SSN. */
    record Chunk(int payloadProtocol, WireBuffer buffer, int length) {}

    /** Octets that the sessions of one association may hold in all. */
    static final class Budget {

        private int left;

        Budget(int octets) {
            left = octets;
        }

        private boolean take(int octets) {
            if (octets > left) {
                return false;
            }
            left -= octets;
            return true;
        }

        private void giveBack(int octets) {
            left += octets;
        }

        /** Octets that are left. */
        int left() {
            return left;
        }
    }

    private final Budget budget;
    private final Map<Integer, Chunk> chunks = new HashMap<>();

    EarlyChunks(Budget budget) {
        this.budget = budget;
    }

    boolean contains(int ssn) {
        return chunks.containsKey(ssn);
    }

    /**
     * Keeps a copy.
     *
     * @return false when the association holds too much already
     */
    boolean put(int ssn, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (!budget.take(length + OVERHEAD)) {
            return false;
        }
        WireBuffer copy = WireBuffer.allocate(length);
        copy.putBytes(0, buffer, offset, length);
        chunks.put(ssn, new Chunk(payloadProtocol, copy, length));
        return true;
    }

    /** The chunk of that number, which is forgotten, or null. */
    @Nullable
    Chunk take(int ssn) {
        Chunk chunk = chunks.isEmpty() ? null : chunks.remove(ssn);
        if (chunk != null) {
            budget.giveBack(chunk.length() + OVERHEAD);
        }
        return chunk;
    }

    void clear() {
        for (Chunk chunk : chunks.values()) {
            budget.giveBack(chunk.length() + OVERHEAD);
        }
        chunks.clear();
    }
}
