// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** What shared and managed regions have in common: their registration. */
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

    /** Deregisters. What failed can be repeated, and what succeeded is not. */
    final void deregister() {
        if (!deregistered) {
            regions.deregister(id());
            deregistered = true;
        }
    }
}
