// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.RegionException.Reason;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Registers and deregisters memory with a device that has its own memory registration. The device gives the STags and
 * checks the accesses of peers. This class is the counterpart of {@link MemoryManager}. Thread-safe.
 */
public final class DeviceRegions {

    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

    /** Memory that a device has registered. */
    public interface Registration {

        int stag();

        /** Tagged offset of the first byte. */
        long baseTaggedOffset();

        /** Ends the registration. The device does not touch the memory afterwards. */
        void revoke();
    }

    /**
     * Registers memory for all queue pairs of a protection domain. The region owns the backing from then on. If this
     * method throws, the caller still owns the backing.
     *
     * @param registrar registers the memory with the device, or throws {@link RegionException} when the device refuses
     * @throws IllegalStateException when the domain is deallocated
     */
    public MemoryRegion register(
            Pd protectionDomain,
            MappedBacking backing,
            Set<AccessRight> access,
            Function<MemorySegment, Registration> registrar) {
        protectionDomain.retainRegion();
        try {
            Registration registration = registrar.apply(backing.segment());
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
     * Returns the backing if a device can register its memory.
     *
     * @throws RegionException UNSUPPORTED for memory of another process
     */
    public static MappedBacking checkMapped(RegionBacking backing) {
        if (backing instanceof MappedBacking mapped) {
            return mapped;
        }
        throw new RegionException(
                Reason.UNSUPPORTED,
                "a device cannot use memory of another process; register a file of the shared volume, or use"
                        + " the software engine (setting sidewarp.provider=software)");
    }

    /**
     * Revokes the STag and releases the memory. Idempotent: all callers get the same completion, which never runs on a
     * thread of a caller.
     */
    public CompletableFuture<Void> deregister(MemoryRegion region) {
        if (region.beginRelease()) {
            regions.remove(region);
            CompletableFuture.runAsync(() -> MemoryManager.release(region));
        }
        return region.released().copy();
    }

    /** Returns all registered regions, in no particular order. */
    public List<MemoryRegion> regions() {
        return List.copyOf(regions);
    }

    /** Backing that a device has registered. Closing it revokes the registration, then closes the backing below. */
    static final class RegisteredBacking implements MappedBacking {

        private final MappedBacking backing;
        private final Registration registration;
        private boolean revoked;

        RegisteredBacking(MappedBacking backing, Registration registration) {
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

        /** Closes the backing. One thread at a time calls this, and repeats the call after an IllegalStateException. */
        @Override
        public void close() {
            if (!revoked) {
                registration.revoke();
                revoked = true;
            }
            backing.close();
        }
    }
}
