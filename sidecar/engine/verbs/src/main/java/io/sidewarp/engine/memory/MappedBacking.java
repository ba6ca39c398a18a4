// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;

/** Memory of a region that this process has mapped or allocated. */
public sealed interface MappedBacking extends RegionBacking
        permits SharedBacking, ManagedBacking, DeviceRegions.RegisteredBacking {

    /** All of the memory, accessible from every thread until {@link #close()}. */
    MemorySegment segment();

    @Override
    default long length() {
        return segment().byteSize();
    }
}
