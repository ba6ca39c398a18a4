// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of one session that wait for an earlier chunk, or for the session to open. The budget limits the bytes that
 * they may hold. A sequence number costs nothing before its chunk has arrived (RFC 5043 section 10).
 */
final class EarlyChunks {

    /** Upper limit of the memory for the objects of a kept chunk, in addition to its bytes. */
    static final int OVERHEAD = 512;

    private static final WireBuffer NOTHING = WireBuffer.allocate(0);

    /** A chunk, and the pool that its bytes count against. */
    record Chunk(int payloadProtocol, WireBuffer buffer, int length, EarlyBudget.Pool pool) {

        private void giveBack() {
            pool.giveBack(length + OVERHEAD);
        }

        private boolean isSegment() {
            return payloadProtocol == ChunkFlyweight.DDP_SEGMENT;
        }

        private Chunk emptied() {
            Chunk emptied = new Chunk(payloadProtocol, NOTHING, 0, pool);
            pool.giveBack(length);
            return emptied;
        }
    }

    private final EarlyBudget budget;
    private final IntFunction<WireBuffer> allocator;
    private final Map<Integer, Chunk> chunks = new HashMap<>();

    /** @param allocator function that allocates a buffer of the given number of bytes */
    EarlyChunks(EarlyBudget budget, IntFunction<WireBuffer> allocator) {
        this.budget = budget;
        this.allocator = allocator;
    }

    boolean isEmpty() {
        return chunks.isEmpty();
    }

    boolean contains(int ssn) {
        return chunks.containsKey(ssn);
    }

    /**
     * Keeps a copy of a chunk.
     *
     * @param consented whether the Consumer of this side has begun or accepted the session
     * @return limit that is exceeded, or null when the chunk was kept
     */
    @Nullable
    String put(int ssn, int payloadProtocol, WireBuffer buffer, int offset, int length, boolean consented) {
        EarlyBudget.Pool pool = budget.pool(consented);
        String exceeded = pool.take(length + OVERHEAD);
        if (exceeded != null) {
            return exceeded;
        }
        try {
            WireBuffer copy = allocator.apply(length);
            copy.putBytes(0, buffer, offset, length);
            chunks.put(ssn, new Chunk(payloadProtocol, copy, length, pool));
        } catch (RuntimeException | Error e) {
            pool.giveBack(length + OVERHEAD);
            throw e;
        }
        return null;
    }

    /** Removes and returns the chunk with that number, or returns null. */
    @Nullable
    Chunk take(int ssn) {
        Chunk chunk = chunks.isEmpty() ? null : chunks.remove(ssn);
        if (chunk != null) {
            chunk.giveBack();
        }
        return chunk;
    }

    /** Keeps only the numbers of DDP Segments, and gives their bytes back to the budget. */
    void dropSegments() {
        chunks.replaceAll((ssn, chunk) -> chunk.isSegment() ? chunk.emptied() : chunk);
    }

    void clear() {
        for (Chunk chunk : chunks.values()) {
            chunk.giveBack();
        }
        chunks.clear();
    }
}
