// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;

/** Backing that a device has registered. Closing it first revokes the registration, then closes the backing below. */
final class RegisteredBacking implements RegionBacking {

    private final RegionBacking backing;
    private final DeviceRegions.Registration registration;
    private boolean revoked;

    RegisteredBacking(RegionBacking backing, DeviceRegions.Registration registration) {
        this.backing = backing;
        this.registration = registration;
    }

    @Override
    public MemorySegment segment() {
        return backing.segment();
    }

    @Override
    public String path() {
        return backing.path();
    }

    @Override
    public boolean verify() {
        return backing.verify();
    }

    @Override
    public void keepContent() {
        backing.keepContent();
    }

    /**
     * Closes the backing. One thread at a time calls this method, and repeats the call after an IllegalStateException.
     */
    @Override
    public void close() {
        if (!revoked) {
            registration.revoke();
            revoked = true;
        }
        backing.close();
    }
}
