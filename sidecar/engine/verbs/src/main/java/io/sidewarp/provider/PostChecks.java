// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import org.jspecify.annotations.Nullable;

/** Checks work requests when they are posted. Allocates nothing. */
public final class PostChecks {

    private static final int MAX_KEY = 0xFF;

    private PostChecks() {}

    private static boolean isSubject(@Nullable MemoryRegion region, RegionUser user) {
        if (region == null || region.queuePair() != user.queuePair() || !user.mayUse(region)) {
            return false;
        }
        // Reads the state once, because another thread may enable the region meanwhile.
        RegionState state = region.state();
        return state == RegionState.VALID || state == RegionState.INVALIDATED;
    }

    /** @param extensions whether the stream has the operations of RFC 7306 */
    public static PostResult checkSend(Wr request, RegionUser user, int ord, boolean extensions) {
        int elements = request.sgeCount();
        boolean possible = switch (request.opcode()) {
            case RDMA_WRITE, SEND -> true;
            case RDMA_READ -> ord > 0 && elements <= 1;
            case FLUSH -> ord > 0 && elements == 0;
            case IMMEDIATE -> extensions && elements == 0;
            case RDMA_WRITE_WITH_IMMEDIATE -> extensions;
            case FETCH_ADD, COMPARE_SWAP ->
                extensions && ord > 0 && (elements == 0 || elements == 1 && request.length() == Long.BYTES);
            case LOCAL_INVALIDATE, ENABLE ->
                elements == 0 && isSubject(request.subject(), user) && request.key() >= 0 && request.key() <= MAX_KEY;
            case RECEIVE -> false;
        };
        if (!possible || request.isFlush() && (ord == 0 || request.opcode().isLocal())) {
            return PostResult.INVALID_REQUEST;
        }
        boolean writes =
                request.opcode() == WrOpcode.RDMA_READ || request.opcode().isAtomic();
        return checkElements(request, user, writes ? AccessRight.LOCAL_WRITE.bit() : 0);
    }

    public static PostResult checkReceive(Wr request, RegionUser user) {
        return request.opcode() == WrOpcode.RECEIVE
                ? checkElements(request, user, AccessRight.LOCAL_WRITE.bit())
                : PostResult.INVALID_REQUEST;
    }

    private static PostResult checkElements(Wr request, RegionUser user, int access) {
        long total = 0;
        for (int i = 0; i < request.sgeCount(); i++) {
            MemoryRegion region = request.region(i);
            long offset = request.offset(i);
            long length = request.length(i);
            boolean usable = user.mayUse(region) && region.isValidOrExpected() && region.allows(access);
            boolean inside =
                    offset >= 0 && length >= 0 && length <= region.length() && offset <= region.length() - length;
            if (!usable || !inside) {
                return PostResult.INVALID_REQUEST;
            }
            total += length;
            if (total > Wr.MAX_LENGTH) {
                return PostResult.INVALID_REQUEST;
            }
        }
        return PostResult.POSTED;
    }
}
