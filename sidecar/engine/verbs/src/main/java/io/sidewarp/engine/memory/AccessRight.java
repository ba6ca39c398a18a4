// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.Set;

/** Permitted use of a region. Local reads are always allowed. */
public enum AccessRight {
    /** Receives and the results of this side's RDMA Reads may be placed in the region. */
    LOCAL_WRITE,
    /** The peer may read the region (RDMA Read Request). */
    REMOTE_READ,
    /** The peer may write to the region (RDMA Write). */
    REMOTE_WRITE,
    /** The peer may invalidate the STag of the region (Send with Invalidate). Only for regions of a single stream. */
    REMOTE_INVALIDATE,
    /** The peer may apply atomic operations to the region (Atomic Request, RFC 7306 section 5). */
    REMOTE_ATOMIC;

    /** True for the rights that permit changes to the content of the memory. */
    public boolean permitsChange() {
        return switch (this) {
            case LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC -> true;
            case REMOTE_READ, REMOTE_INVALIDATE -> false;
        };
    }

    /** Returns the right as a bit, for {@link MemoryRegion#allows(int)}. */
    public int bit() {
        return 1 << ordinal();
    }

    /** Returns the bits of several rights. */
    public static int mask(AccessRight... rights) {
        int mask = 0;
        for (AccessRight right : rights) {
            mask |= right.bit();
        }
        return mask;
    }

    /** Returns the bits of a set of rights. */
    public static int mask(Set<AccessRight> rights) {
        int mask = 0;
        for (AccessRight right : rights) {
            mask |= right.bit();
        }
        return mask;
    }
}
