// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.AccessCheck;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.AtomicUnit;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.TaggedAccess;
import io.sidewarp.engine.verbs.RdmapError;
import org.jspecify.annotations.Nullable;

/**
 * Carries out Atomic Requests of the peer (RFC 7306 section 5) as soon as DDP delivers them. DDP delivers them after
 * everything that the peer sent before (section 5.4 rules 3 and 5). Allocates nothing.
 */
final class AtomicResponder {

    private final StreamSettings settings;
    private final AtomicUnit unit;
    private final ControlBuffer buffer = new ControlBuffer(AtomicRequestFlyweight.LENGTH);
    private final AtomicRequestFlyweight request = new AtomicRequestFlyweight(buffer.octets());
    private long original;

    AtomicResponder(StreamSettings settings) {
        this.settings = settings;
        this.unit = settings.atomics();
    }

    /** Buffer in which a request is received. */
    ControlBuffer buffer() {
        return buffer;
    }

    /** Last request that was received. */
    AtomicRequestFlyweight request() {
        return request;
    }

    /** Value that the last request found in memory. */
    long original() {
        return original;
    }

    /**
     * Carries out the request in the buffer.
     *
     * @param length bytes of the message
     * @return reason why the request was refused, with memory unchanged; or null
     */
    @Nullable
    RdmapError execute(long length) throws RegionFault {
        if (length != AtomicRequestFlyweight.LENGTH) {
            return RdmapError.UNSPECIFIED_OPERATION;
        }
        int operation = request.aOpCode();
        if (operation != AtomicRequestFlyweight.FETCH_ADD && operation != AtomicRequestFlyweight.CMP_SWAP) {
            return RdmapError.UNEXPECTED_OPCODE;
        }
        MemoryRegion region = settings.stags().lookup(request.remoteStag());
        AccessCheck check = TaggedAccess.check(
                region, settings.user(), AccessRight.REMOTE_ATOMIC.bit(), request.remoteTo(), Long.BYTES);
        if (check != AccessCheck.OK || region == null) {
            return RdmapError.of(check);
        }
        long offset = request.remoteTo() - region.baseTaggedOffset();
        if (!region.isWordAligned(offset)) {
            // Section 8.2 names this error for an address that is not aligned.
            return RdmapError.CATASTROPHIC_STREAM;
        }
        original = operation == AtomicRequestFlyweight.FETCH_ADD
                ? unit.fetchAdd(region, offset, request.addSwapData(), request.addSwapMask())
                : unit.compareSwap(
                        region,
                        offset,
                        request.compareData(),
                        request.compareMask(),
                        request.addSwapData(),
                        request.addSwapMask());
        return null;
    }
}
