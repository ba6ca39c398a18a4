// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.rdmap.Wqe;
import io.sidewarp.engine.verbs.WorkRequest;

/** Copies checked work requests into elements of work queues. Allocates nothing. */
final class WqeFiller {

    private WqeFiller() {}

    static void fillSend(WorkRequest request, Wqe wqe) {
        wqe.begin(request.id(), Opcodes.rdmapOpcode(request), request.isSignaled(), request.isFence());
        wqe.remote(request.remoteStag(), request.remoteTaggedOffset());
        wqe.invalidate(request.isInvalidate() ? request.invalidateStag() : 0);
        copyOperands(request, wqe);
        copyElements(request, wqe);
    }

    static void fillReceive(WorkRequest request, Wqe wqe) {
        wqe.begin(request.id(), RdmapControl.SEND, true, false);
        copyElements(request, wqe);
    }

    private static void copyOperands(WorkRequest request, Wqe wqe) {
        switch (request.opcode()) {
            case IMMEDIATE, RDMA_WRITE_WITH_IMMEDIATE ->
                wqe.immediate(RdmapControl.immediateOpcode(request.isSolicited()), request.immediate());
            case FETCH_ADD -> wqe.fetchAdd(request.operand(), request.operandMask());
            case COMPARE_SWAP ->
                wqe.compareSwap(request.compare(), request.compareMask(), request.operand(), request.operandMask());
            case LOCAL_INVALIDATE, ENABLE -> copySubject(request, wqe);
            case FLUSH -> wqe.flushOnly();
            case RDMA_WRITE, RDMA_READ, SEND, RECEIVE -> {}
        }
        if (request.isFlush()) {
            wqe.flush();
        }
        if (request.isLocalFence()) {
            wqe.localFence();
        }
    }

    private static void copySubject(WorkRequest request, Wqe wqe) {
        MemoryRegion region = request.subject();
        if (region != null) {
            wqe.subject(region, request.key());
        }
    }

    private static void copyElements(WorkRequest request, Wqe wqe) {
        for (int i = 0; i < request.sgeCount(); i++) {
            wqe.addSge(request.region(i), request.offset(i), request.length(i));
        }
    }
}
