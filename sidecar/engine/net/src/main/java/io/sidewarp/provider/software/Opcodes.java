// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.rdmap.AtomicOperation;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.rdmap.Wqe;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkRequest;

/** Converts opcodes of verbs into those of the engine, and back. */
final class Opcodes {

    private Opcodes() {}

    static int rdmapOpcode(WorkRequest request) {
        return switch (request.opcode()) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> RdmapControl.RDMA_WRITE;
            case RDMA_READ, FLUSH -> RdmapControl.RDMA_READ_REQUEST;
            case LOCAL_INVALIDATE -> Wqe.LOCAL_INVALIDATE;
            case ENABLE -> Wqe.ENABLE;
            case IMMEDIATE -> RdmapControl.immediateOpcode(request.isSolicited());
            case FETCH_ADD, COMPARE_SWAP -> RdmapControl.ATOMIC_REQUEST;
            case SEND, RECEIVE -> RdmapControl.sendOpcode(request.isSolicited(), request.isInvalidate());
        };
    }

    static Opcode verbsOpcode(Wqe wqe) {
        return switch (wqe.opcode()) {
            case RdmapControl.RDMA_WRITE ->
                wqe.isWriteWithImmediate() ? Opcode.RDMA_WRITE_WITH_IMMEDIATE : Opcode.RDMA_WRITE;
            case RdmapControl.RDMA_READ_REQUEST -> wqe.isFlushOnly() ? Opcode.FLUSH : Opcode.RDMA_READ;
            case RdmapControl.IMMEDIATE, RdmapControl.IMMEDIATE_WITH_SE -> Opcode.IMMEDIATE;
            case RdmapControl.ATOMIC_REQUEST ->
                wqe.atomicOperation() == AtomicOperation.FETCH_ADD ? Opcode.FETCH_ADD : Opcode.COMPARE_SWAP;
            case Wqe.LOCAL_INVALIDATE -> Opcode.LOCAL_INVALIDATE;
            case Wqe.ENABLE -> Opcode.ENABLE;
            default -> Opcode.SEND;
        };
    }
}
