// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * Thrown when the memory of a region is inaccessible, because its shared file was truncated or the region was released.
 * Carries no stack trace, because it is thrown on the data path and its cause lies outside the program.
 */
public final class RegionFault extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient MemoryRegion region;

    /** @param region the region that cannot be used */
    public RegionFault(MemoryRegion region, String message) {
        super(message, null, false, false);
        this.region = region;
    }

    /** Returns the region that failed. */
    public MemoryRegion region() {
        return region;
    }
}
