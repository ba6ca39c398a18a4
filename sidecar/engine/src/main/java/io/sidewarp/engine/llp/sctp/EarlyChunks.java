// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of one session that wait for an earlier one, or for the session to open. What they may hold is the budget's to
 * say, and a number costs nothing before its chunk is there (RFC 5043 section 10).
 */
final class EarlyChunks {

    /** What keeping a chunk costs besides its bytes, at most: its memory, and the objects that hold it. */
    static final int OVERHEAD = 512;

    private static final WireBuffer NOTHING = WireBuffer.allocate(0);

    /** A chunk, and what its bytes count against. */
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

    EarlyChunks(EarlyBudget budget) {
        this(budget, WireBuffer::allocate);
    }

    /** @param allocator of buffers with a number of bytes */
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
     * Keeps a copy.
     *
     * @param consented whether the Consumer of this side has begun or accepted the session
     * @return which limit is in the way, or null when it was kept
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

    /** The chunk of that number, which is forgotten, or null. */
    @Nullable
    Chunk take(int ssn) {
        Chunk chunk = chunks.isEmpty() ? null : chunks.remove(ssn);
        if (chunk != null) {
            chunk.giveBack();
        }
        return chunk;
    }

    /** Keeps the numbers of DDP Segments only, and gives back what their bytes count. */
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
