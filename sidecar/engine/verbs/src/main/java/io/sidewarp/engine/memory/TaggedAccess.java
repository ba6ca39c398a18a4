// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import org.jspecify.annotations.Nullable;

/**
 * Checks accesses to a region by STag and tagged offset. Implements RFC 5041 section 7.1 for tagged segments and RFC
 * 5040 section 7.2 for the source of a read. Allocates nothing.
 */
public final class TaggedAccess {

    private TaggedAccess() {}

    /**
     * Checks an access to a range of bytes. The first check that fails decides. The order is STag, association, right,
     * wrap, bounds.
     *
     * @param region result of {@link StagTable#lookup(int)}
     * @param user the stream
     * @param accessBits required rights ({@link AccessRight#bit()})
     * @param taggedOffset tagged offset of the first byte, unsigned
     * @param length bytes, 0 to 2^63-1
     */
    public static AccessCheck check(
            @Nullable MemoryRegion region, RegionUser user, int accessBits, long taggedOffset, long length) {
        AccessCheck association = checkAssociation(region, user, accessBits);
        if (association != AccessCheck.OK || region == null) {
            return association;
        }
        if (wraps(taggedOffset, length)) {
            return AccessCheck.WRAP;
        }
        return within(region, taggedOffset, length) ? AccessCheck.OK : AccessCheck.BOUNDS;
    }

    /**
     * Checks the use of an STag without a range, for an invalidation by the peer (RFC 5040 section 7.2, last paragraph
     * but one).
     */
    public static AccessCheck checkAssociation(@Nullable MemoryRegion region, RegionUser user, int accessBits) {
        if (region == null || !region.isValid()) {
            return AccessCheck.INVALID_STAG;
        }
        if (!user.mayUse(region)) {
            return AccessCheck.NOT_ASSOCIATED;
        }
        return region.allows(accessBits) ? AccessCheck.OK : AccessCheck.NO_RIGHT;
    }

    /** Returns whether offset plus length exceeds 2^64. A range that ends with byte 2^64-1 does not exceed it. */
    static boolean wraps(long taggedOffset, long length) {
        return length != 0 && Long.compareUnsigned(taggedOffset + (length - 1), taggedOffset) < 0;
    }

    private static boolean within(MemoryRegion region, long taggedOffset, long length) {
        long base = region.baseTaggedOffset();
        if (Long.compareUnsigned(taggedOffset, base) < 0) {
            return false;
        }
        long offset = taggedOffset - base;
        return Long.compareUnsigned(offset, region.length()) <= 0
                && Long.compareUnsigned(length, region.length() - offset) <= 0;
    }
}
