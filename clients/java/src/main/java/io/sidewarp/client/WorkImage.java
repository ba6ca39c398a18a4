// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** A work request as stored in a ring, except its id and tag. Immutable. */
final class WorkImage {

    private static final int BLOCK_WORDS = RingLayout.BLOCK_SIZE / Long.BYTES;
    private static final long MAX_LENGTH = 0xFFFF_FFFFL;

    private final long[] words;
    private final int blocks;
    private final boolean receive;
    private final boolean unsignaled;
    private final boolean data;
    private final boolean answered;

    private WorkImage(WorkRequest request, long[] words, int blocks) {
        this.words = words;
        this.blocks = blocks;
        receive = request.hasReceive();
        unsignaled = request.getUnsignaled() && !receive;
        data = request.hasWrite() || request.hasSend() || request.hasImmediate();
        answered = !unsignaled
                && (request.hasRead()
                        || request.hasFetchAdd()
                        || request.hasCompareSwap()
                        || request.hasFlush()
                        || request.getWithFlush());
    }

    /**
     * Makes the image of a request.
     *
     * @throws IllegalArgumentException if the entry of a ring cannot carry the request
     */
    static WorkImage of(WorkRequest request) {
        long[] words = new long[WorkEntryFlyweight.MAX_BLOCKS * BLOCK_WORDS];
        WorkEntryFlyweight entry = new WorkEntryFlyweight(MemorySegment.ofArray(words));
        int blocks = new Encoder(entry, request).encode();
        return new WorkImage(request, Arrays.copyOf(words, blocks * BLOCK_WORDS), blocks);
    }

    /** Returns a Write of no bytes. Its completion reports that all earlier work is complete. */
    static WorkImage marker(long connection) {
        return of(WorkRequest.newBuilder()
                .setConnection(connection)
                .setWrite(WriteWork.getDefaultInstance())
                .build());
    }

    /** Returns the words of all blocks, which must not be changed. */
    long[] words() {
        return words;
    }

    int blocks() {
        return blocks;
    }

    boolean isReceive() {
        return receive;
    }

    boolean isUnsignaled() {
        return unsignaled;
    }

    /** Returns whether the request carries data to the peer. */
    boolean isData() {
        return data;
    }

    /** Returns whether the request has a completion that reports an answer of the peer. */
    boolean isAnswered() {
        return answered;
    }

    private static final class Encoder {

        private final WorkEntryFlyweight entry;
        private final WorkRequest request;
        private int flags;

        Encoder(WorkEntryFlyweight entry, WorkRequest request) {
            this.entry = entry;
            this.request = request;
        }

        int encode() {
            flag(request.getFence(), WorkEntryFlyweight.FLAG_FENCE);
            flag(request.getLocalFence(), WorkEntryFlyweight.FLAG_LOCAL_FENCE);
            flag(request.getUnsignaled() && !request.hasReceive(), WorkEntryFlyweight.FLAG_UNSIGNALED);
            flag(request.getWithFlush(), WorkEntryFlyweight.FLAG_WITH_FLUSH);
            flag(request.getSharedReceiveQueue() != 0, WorkEntryFlyweight.FLAG_SHARED);
            entry.connection(
                    request.getSharedReceiveQueue() != 0 ? request.getSharedReceiveQueue() : request.getConnection());
            int blocks = work();
            entry.flags(flags).blocks(blocks);
            return blocks;
        }

        private void flag(boolean set, int flag) {
            flags |= set ? flag : 0;
        }

        private int work() {
            return switch (request.getWorkCase()) {
                case WRITE -> write();
                case READ -> {
                    remote(request.getRead().getRemote());
                    yield local(
                            WorkEntryFlyweight.OPCODE_READ, request.getRead().getLocalList());
                }
                case SEND -> send();
                case RECEIVE ->
                    local(
                            WorkEntryFlyweight.OPCODE_RECEIVE,
                            request.getReceive().getLocalList());
                case IMMEDIATE -> {
                    flag(request.getImmediate().getSolicited(), WorkEntryFlyweight.FLAG_SOLICITED);
                    entry.remoteOffset(request.getImmediate().getData());
                    yield local(WorkEntryFlyweight.OPCODE_IMMEDIATE, List.of());
                }
                case FETCH_ADD -> {
                    remote(request.getFetchAdd().getRemote());
                    entry.operands(
                            request.getFetchAdd().getAdd(),
                            request.getFetchAdd().getMask(),
                            0,
                            0);
                    yield local(
                            WorkEntryFlyweight.OPCODE_FETCH_ADD,
                            request.getFetchAdd().getLocalList());
                }
                case COMPARE_SWAP -> compareSwap();
                case LOCAL_INVALIDATE -> {
                    entry.element(0, request.getLocalInvalidate().getRegion(), 0, 0);
                    yield local(WorkEntryFlyweight.OPCODE_LOCAL_INVALIDATE, List.of());
                }
                case ENABLE -> {
                    entry.element(
                            0,
                            request.getEnable().getRegion(),
                            0,
                            request.getEnable().getKey());
                    yield local(WorkEntryFlyweight.OPCODE_ENABLE, List.of());
                }
                case FLUSH -> local(WorkEntryFlyweight.OPCODE_FLUSH, List.of());
                case WORK_NOT_SET -> throw new IllegalArgumentException("the work request has no work");
            };
        }

        private int write() {
            WriteWork write = request.getWrite();
            remote(write.getRemote());
            if (!write.hasImmediate()) {
                return local(WorkEntryFlyweight.OPCODE_WRITE, write.getLocalList());
            }
            flag(write.getSolicited(), WorkEntryFlyweight.FLAG_SOLICITED);
            entry.operands(write.getImmediate(), 0, 0, 0);
            return local(WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE, write.getLocalList());
        }

        private int send() {
            flag(request.getSend().getSolicited(), WorkEntryFlyweight.FLAG_SOLICITED);
            if (request.getSend().hasInvalidateStag()) {
                flags |= WorkEntryFlyweight.FLAG_INVALIDATE;
                entry.remoteStag(request.getSend().getInvalidateStag());
            }
            return local(WorkEntryFlyweight.OPCODE_SEND, request.getSend().getLocalList());
        }

        private int compareSwap() {
            io.sidewarp.v1.CompareSwapWork swap = request.getCompareSwap();
            remote(swap.getRemote());
            entry.operands(
                    swap.getSwap(),
                    swap.hasSwapMask() ? swap.getSwapMask() : -1,
                    swap.getCompare(),
                    swap.hasCompareMask() ? swap.getCompareMask() : -1);
            return local(WorkEntryFlyweight.OPCODE_COMPARE_SWAP, swap.getLocalList());
        }

        private void remote(io.sidewarp.v1.RemoteAddress remote) {
            entry.remoteStag(remote.getStag()).remoteOffset(remote.getTaggedOffset());
        }

        /** Adds the local elements, and returns the number of blocks. */
        private int local(int opcode, List<Sge> local) {
            if (local.size() > WorkEntryFlyweight.MAX_ELEMENTS) {
                throw new IllegalArgumentException("the work request has " + local.size() + " local parts; at most "
                        + WorkEntryFlyweight.MAX_ELEMENTS + " are allowed");
            }
            entry.opcode(opcode).elements(local.size());
            for (int i = 0; i < local.size(); i++) {
                Sge part = local.get(i);
                if (part.getLength() < 0 || part.getLength() > MAX_LENGTH) {
                    throw new IllegalArgumentException("a local part of the work request has "
                            + Long.toUnsignedString(part.getLength()) + " bytes; at most " + MAX_LENGTH
                            + " are allowed");
                }
                entry.element(i, part.getRegion(), part.getOffset(), (int) part.getLength());
            }
            return WorkEntryFlyweight.blocks(opcode, local.size());
        }
    }
}
