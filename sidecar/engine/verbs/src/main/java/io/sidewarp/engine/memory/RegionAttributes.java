// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.Set;

/**
 * Attributes of a region to register.
 *
 * @param access rights; an empty set permits neither remote access nor local placement
 * @param baseTaggedOffset tagged offset of the region's first byte, unsigned
 * @param peer identity that the peer of a stream must have, as TLS has verified it; empty for no restriction
 */
public record RegionAttributes(Set<AccessRight> access, long baseTaggedOffset, String peer) {

    public RegionAttributes {
        access = Set.copyOf(access);
    }

    /** Creates the attributes of a region for all peers. */
    public RegionAttributes(Set<AccessRight> access, long baseTaggedOffset) {
        this(access, baseTaggedOffset, "");
    }
}
