// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.WorkEntryFlyweight;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** A work request as stored in a ring, except its id and tag. Immutable. */
final class WorkImage {

    private static final int BLOCK_WORDS = RingLayout.BLOCK_SIZE / Long.BYTES;
    private static final long MAX_LENGTH = 0xFFFF_FFFFL;

    private final long[] words;

    private WorkImage(long[] words) {
        this.words = words;
    }

    /**
     * Makes the image of a request.
     *
     * @throws IllegalArgumentException if the entry of a ring cannot carry the request
     */
    static WorkImage of(WorkRequest request) {
        List<Sge> local = request.local();
        if (local.size() > WorkEntryFlyweight.MAX_ELEMENTS) {
            throw new IllegalArgumentException("the work request has " + local.size() + " local parts; at most "
                    + WorkEntryFlyweight.MAX_ELEMENTS + " are allowed");
        }
        long[] words = new long[WorkEntryFlyweight.MAX_BLOCKS * BLOCK_WORDS];
        WorkEntryFlyweight entry = new WorkEntryFlyweight(MemorySegment.ofArray(words));
        int opcode = request.opcode().number();
        WorkRequest.Operands operands = request.operands();
        // A receive completes in any case.
        entry.flags(request.isReceive() ? request.flags() & ~WorkEntryFlyweight.FLAG_UNSIGNALED : request.flags())
                .opcode(opcode)
                .connection(request.owner())
                .remoteStag(request.remote().stag())
                .remoteOffset(
                        request.opcode() == Opcode.IMMEDIATE
                                ? operands.operand()
                                : request.remote().taggedOffset());
        if (WorkEntryFlyweight.hasOperands(opcode)) {
            entry.operands(operands.operand(), operands.operandMask(), operands.compare(), operands.compareMask());
        }
        int elements = local.size();
        if (request.opcode() == Opcode.LOCAL_INVALIDATE || request.opcode() == Opcode.ENABLE) {
            // The request names a region and a key in the place of its first element.
            entry.element(0, local.getFirst().region(), 0, (int) operands.operand());
            elements = 0;
        }
        for (int i = 0; i < elements; i++) {
            Sge part = local.get(i);
            if (part.length() > MAX_LENGTH) {
                throw new IllegalArgumentException("a local part of the work request has " + part.length()
                        + " bytes; at most " + MAX_LENGTH + " are allowed");
            }
            entry.element(i, part.region(), part.offset(), (int) part.length());
        }
        int blocks = WorkEntryFlyweight.blocks(opcode, elements);
        entry.elements(elements).blocks(blocks);
        return new WorkImage(Arrays.copyOf(words, blocks * BLOCK_WORDS));
    }

    /** Returns the words of all blocks, which must not be changed. */
    long[] words() {
        return words;
    }

    int blocks() {
        return words.length / BLOCK_WORDS;
    }
}
