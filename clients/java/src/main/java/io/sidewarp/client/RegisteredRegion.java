// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** The registration, which shared and managed regions have in common. */
abstract class RegisteredRegion {

    private final Regions regions;
    private final io.sidewarp.v1.Region region;
    private volatile boolean deregistered;

    RegisteredRegion(Regions regions, io.sidewarp.v1.Region region) {
        this.regions = regions;
        this.region = region;
    }

    public final long id() {
        return region.getId();
    }

    public final int stag() {
        return region.getStag();
    }

    public final long baseTaggedOffset() {
        return region.getBaseTaggedOffset();
    }

    public final long length() {
        return region.getLength();
    }

    final Regions regions() {
        return regions;
    }

    final io.sidewarp.v1.Region region() {
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
