// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.WorkRequest;

/** What is checked of a work request when it is posted. Allocates nothing. */
final class PostChecks {

    private PostChecks() {}

    static PostResult checkSend(WorkRequest request, ProtectionDomain domain, long queuePair, int ord) {
        Opcode opcode = request.opcode();
        if (opcode == Opcode.RECEIVE) {
            return PostResult.INVALID_REQUEST;
        }
        boolean read = opcode == Opcode.RDMA_READ;
        if (read && (ord == 0 || request.sgeCount() > 1)) {
            return PostResult.INVALID_REQUEST;
        }
        int access = read ? AccessRight.LOCAL_WRITE.bit() : 0;
        return checkElements(request, domain, queuePair, access);
    }

    static PostResult checkReceive(WorkRequest request, ProtectionDomain domain, long queuePair) {
        return request.opcode() == Opcode.RECEIVE
                ? checkElements(request, domain, queuePair, AccessRight.LOCAL_WRITE.bit())
                : PostResult.INVALID_REQUEST;
    }

    private static PostResult checkElements(WorkRequest request, ProtectionDomain domain, long queuePair, int access) {
        long total = 0;
        for (int i = 0; i < request.sgeCount(); i++) {
            MemoryRegion region = request.region(i);
            long offset = request.offset(i);
            long length = request.length(i);
            boolean usable = region.protectionDomain() == domain
                    && (region.queuePair() == 0 || region.queuePair() == queuePair)
                    && region.isValid()
                    && region.allows(access);
            boolean inside =
                    offset >= 0 && length >= 0 && length <= region.length() && offset <= region.length() - length;
            if (!usable || !inside) {
                return PostResult.INVALID_REQUEST;
            }
            total += length;
            if (total > DdpSender.MAX_MESSAGE_LENGTH) {
                return PostResult.INVALID_REQUEST;
            }
        }
        return PostResult.POSTED;
    }

    static int rdmapOpcode(WorkRequest request) {
        return switch (request.opcode()) {
            case RDMA_WRITE -> RdmapControl.RDMA_WRITE;
            case RDMA_READ -> RdmapControl.RDMA_READ_REQUEST;
            case SEND, RECEIVE -> RdmapControl.sendOpcode(request.isSolicited(), request.isInvalidate());
        };
    }

    static Opcode verbsOpcode(int rdmapOpcode) {
        return switch (rdmapOpcode) {
            case RdmapControl.RDMA_WRITE -> Opcode.RDMA_WRITE;
            case RdmapControl.RDMA_READ_REQUEST -> Opcode.RDMA_READ;
            default -> Opcode.SEND;
        };
    }
}
