// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** The registration, which shared and managed regions have in common. */
abstract class RegisteredRegion {

    private final Regions regions;
    private final RegionInfo region;
    private volatile boolean deregistered;

    RegisteredRegion(Regions regions, RegionInfo region) {
        this.regions = regions;
        this.region = region;
    }

    public final long id() {
        return region.id();
    }

    public final int stag() {
        return region.stag();
    }

    public final long baseTaggedOffset() {
        return region.baseTaggedOffset();
    }

    public final long length() {
        return region.length();
    }

    final Regions regions() {
        return regions;
    }

    final RegionInfo region() {
        return region;
    }

    /** Deregisters the region. A failed attempt can be repeated; after a success, the call does nothing. */
    final void deregister() {
        if (!deregistered) {
            regions.deregister(id());
            deregistered = true;
        }
    }
}
