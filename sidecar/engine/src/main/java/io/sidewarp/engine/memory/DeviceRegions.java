// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Registers and deregisters memory that a device knows by itself, gives STags and checks what peers may do; the counterpart
 * of {@link MemoryManager}. Thread-safe.
 */
public final class DeviceRegions {

    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

    /** Memory as a device has registered it. */
    public interface Registration {

        int stag();

        /** Tagged offset of the first byte. */
        long baseTaggedOffset();

        /** Ends it; from then on the device does not touch the memory. */
        void revoke();
    }

    /** How the device registers memory. */
    @FunctionalInterface
    public interface Registrar {

        /** @throws RegionException when the device refuses */
        Registration register(MemorySegment memory);
    }

    /**
     * Registers memory for all of a protection domain. The backing belongs to the region from then on; when this throws it is
     * still the caller's.
     *
     * @throws IllegalStateException when the domain is deallocated
     */
    public MemoryRegion register(
            ProtectionDomain protectionDomain, RegionBacking backing, Set<AccessRight> access, Registrar registrar) {
        protectionDomain.retainRegion();
        try {
            Registration registration = registrar.register(backing.segment());
            MemoryRegion region = new MemoryRegion(
                    registration.stag(),
                    protectionDomain,
                    new RegisteredBacking(backing, registration),
                    new RegionAttributes(access, registration.baseTaggedOffset()),
                    0);
            regions.add(region);
            return region;
        } catch (RuntimeException e) {
            protectionDomain.releaseRegion();
            throw e;
        }
    }

    /**
     * Revokes the STag and releases the memory. Idempotent: all callers see the same completion, on no thread of theirs.
     */
    public CompletableFuture<Void> deregister(MemoryRegion region) {
        if (region.beginRelease()) {
            regions.remove(region);
            CompletableFuture.runAsync(() -> MemoryManager.release(region));
        }
        return region.released().copy();
    }

    /** All registered regions, in no order. */
    public List<MemoryRegion> regions() {
        return List.copyOf(regions);
    }
}
