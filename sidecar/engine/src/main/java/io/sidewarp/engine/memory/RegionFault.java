// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * A region could not be touched: its shared file was truncated, or the region was released meanwhile. Carries no stack
 * trace, since it is thrown on the data path and its cause lies outside of the program.
 */
public final class RegionFault extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient MemoryRegion region;

    /** @param region the region that cannot be used */
    public RegionFault(MemoryRegion region, String message) {
        super(message, null, false, false);
        this.region = region;
    }

    /** The region that failed. */
    public MemoryRegion region() {
        return region;
    }
}
