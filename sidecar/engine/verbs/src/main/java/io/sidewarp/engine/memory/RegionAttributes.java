// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.Set;

/**
 * Attributes of a region to register.
 *
 * @param access rights; an empty set permits neither remote access nor local placement
 * @param baseTaggedOffset tagged offset of the region's first byte, unsigned
 */
public record RegionAttributes(Set<AccessRight> access, long baseTaggedOffset) {

    public RegionAttributes {
        access = Set.copyOf(access);
    }
}
