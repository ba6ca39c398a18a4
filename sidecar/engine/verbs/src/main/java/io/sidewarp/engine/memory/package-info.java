// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Memory that work requests and peers may use. Regions lie over files of the shared volume or over private memory. The
 * package has their STags, protection domains, and the checks of RFC 5040 section 7.2 and RFC 5041 section 7.1. Bytes
 * enter and leave a region only through {@link io.sidewarp.engine.memory.MemoryRegion}. A region stops accesses when it
 * is revoked, and turns a truncated file into a {@link io.sidewarp.engine.memory.RegionFault}. Uses no other package of
 * the engine.
 */
@NullMarked
package io.sidewarp.engine.memory;

import org.jspecify.annotations.NullMarked;
