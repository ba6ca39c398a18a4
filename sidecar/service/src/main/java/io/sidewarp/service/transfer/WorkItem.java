// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One work request in the form of the caller, with regions by id. Reused for all requests, without allocations. Not
 * thread-safe.
 */
final class WorkItem {

    long id;
    long connection;
    /** Shared receive queue to post to instead of a connection, or 0. */
    long sharedReceives;

    boolean fence;
    boolean localFence;
    boolean unsignaled;
    boolean withFlush;
    /** Operation of the request; null if the request names none. */
    @Nullable
    WrOpcode opcode;

    /** True if the caller named memory of the peer. */
    boolean remote;

    int remoteStag;
    long remoteTaggedOffset;
    boolean solicited;
    boolean invalidate;
    int invalidateStag;
    long immediate;

    /** Region to invalidate or enable, and the key of its new STag. */
    long subject;

    int key;

    /**
     * Operands of atomic operations: the value to add or swap, the value to compare, and their masks. Masks have all
     * bits set by default.
     */
    long operand;

    long operandMask;
    long compare;
    long compareMask;

    /** Memory of inline payload, which replaces the regions of the elements. */
    @Nullable
    MemoryRegion inline;

    /**
     * Number of elements that the caller gave. Elements beyond {@link Wr#MAX_SGE} are counted but not stored.
     */
    int sgeCount;

    final long[] regions = new long[Wr.MAX_SGE];
    final long[] offsets = new long[Wr.MAX_SGE];
    final long[] lengths = new long[Wr.MAX_SGE];

    void addSge(long region, long offset, long length) {
        if (sgeCount < Wr.MAX_SGE) {
            regions[sgeCount] = region;
            offsets[sgeCount] = offset;
            lengths[sgeCount] = length;
        }
        sgeCount++;
    }

    /** Copies a work request. For a receive, the id comes from the request and not from its ReceiveWork. */
    WorkItem of(WorkRequest request) {
        long of = request.getConnection();
        switch (request.getWorkCase()) {
            case WRITE -> of(request.getWrite(), of);
            case READ -> of(request.getRead(), of);
            case SEND -> of(request.getSend(), of);
            case RECEIVE -> of(request.getReceive(), of);
            case IMMEDIATE -> of(request.getImmediate(), of);
            case FETCH_ADD -> of(request.getFetchAdd(), of);
            case COMPARE_SWAP -> of(request.getCompareSwap(), of);
            case LOCAL_INVALIDATE -> {
                begin(WrOpcode.LOCAL_INVALIDATE, of, List.of());
                subject = request.getLocalInvalidate().getRegion();
            }
            case ENABLE -> {
                begin(WrOpcode.ENABLE, of, List.of());
                subject = request.getEnable().getRegion();
                key = request.getEnable().getKey();
            }
            case FLUSH -> flush(of);
            case WORK_NOT_SET -> begin(null, of, List.of());
        }
        id = request.getId();
        sharedReceives = request.getSharedReceiveQueue();
        fence = request.getFence();
        localFence = request.getLocalFence();
        unsignaled = request.getUnsignaled();
        withFlush = request.getWithFlush();
        return this;
    }

    private void of(ImmediateWork work, long newConnection) {
        begin(WrOpcode.IMMEDIATE, newConnection, List.of());
        immediate = work.getData();
        solicited = work.getSolicited();
    }

    private void of(FetchAddWork work, long newConnection) {
        begin(WrOpcode.FETCH_ADD, newConnection, work.getLocalList());
        remote(work.hasRemote(), work.getRemote());
        operand = work.getAdd();
        operandMask = work.getMask();
    }

    private void of(CompareSwapWork work, long newConnection) {
        begin(WrOpcode.COMPARE_SWAP, newConnection, work.getLocalList());
        remote(work.hasRemote(), work.getRemote());
        compare = work.getCompare();
        compareMask = work.hasCompareMask() ? work.getCompareMask() : -1L;
        operand = work.getSwap();
        operandMask = work.hasSwapMask() ? work.getSwapMask() : -1L;
    }

    private void remote(boolean given, RemoteAddress address) {
        remote = given;
        remoteStag = address.getStag();
        remoteTaggedOffset = address.getTaggedOffset();
    }

    WorkItem of(WriteWork work, long newConnection) {
        begin(WrOpcode.RDMA_WRITE, newConnection, work.getLocalList());
        remote(work.hasRemote(), work.getRemote());
        solicited = work.getSolicited();
        if (work.hasImmediate()) {
            opcode = WrOpcode.RDMA_WRITE_WITH_IMMEDIATE;
            immediate = work.getImmediate();
        }
        return this;
    }

    WorkItem of(ReadWork work, long newConnection) {
        begin(WrOpcode.RDMA_READ, newConnection, work.getLocalList());
        remote(work.hasRemote(), work.getRemote());
        return this;
    }

    WorkItem of(SendWork work, long newConnection) {
        begin(WrOpcode.SEND, newConnection, work.getLocalList());
        solicited = work.getSolicited();
        invalidate = work.hasInvalidateStag();
        invalidateStag = work.getInvalidateStag();
        return this;
    }

    WorkItem of(ReceiveWork work, long newConnection) {
        begin(WrOpcode.RECEIVE, newConnection, work.getLocalList());
        id = work.getId();
        return this;
    }

    WorkItem flush(long newConnection) {
        begin(WrOpcode.FLUSH, newConnection, List.of());
        return this;
    }

    private void begin(@Nullable WrOpcode newOpcode, long newConnection, List<Sge> elements) {
        begin(newOpcode, newConnection);
        for (int i = 0; i < elements.size(); i++) {
            Sge sge = elements.get(i);
            addSge(sge.getRegion(), sge.getOffset(), sge.getLength());
        }
    }

    /** Resets all fields. */
    void begin(@Nullable WrOpcode newOpcode, long newConnection) {
        id = 0;
        connection = newConnection;
        sharedReceives = 0;
        fence = false;
        localFence = false;
        unsignaled = false;
        withFlush = false;
        opcode = newOpcode;
        remote = false;
        remoteStag = 0;
        remoteTaggedOffset = 0;
        solicited = false;
        invalidate = false;
        invalidateStag = 0;
        immediate = 0;
        subject = 0;
        key = 0;
        operand = 0;
        operandMask = 0;
        compare = 0;
        compareMask = -1L;
        sgeCount = 0;
        inline = null;
    }

    /** Returns whether the completion of this request reports on earlier work. */
    boolean isFlush() {
        return opcode == WrOpcode.FLUSH || withFlush;
    }
}
