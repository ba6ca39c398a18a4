// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;

/** Memory that a device has registered, and which goes back to its own backing once the device has let go of it. */
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

    /** Called by one thread at a time, again after an IllegalStateException. */
    @Override
    public void close() {
        if (!revoked) {
            registration.revoke();
            revoked = true;
        }
        backing.close();
    }
}
