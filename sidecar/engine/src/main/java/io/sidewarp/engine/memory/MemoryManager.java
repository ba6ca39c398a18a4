// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Registers and deregisters memory. Deregistration is the revocation of RFC 5040 section 8.1.1 item 6: once its future
 * is complete nothing is placed into the memory or read from it any more. Thread-safe.
 */
public final class MemoryManager {

    private static final int CLOSE_ATTEMPTS = 10_000;
    private static final Executor SOON = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);

    private final StagTable stags;
    private final Quiescence quiescence;

    public MemoryManager(StagTable stags, Quiescence quiescence) {
        this.stags = stags;
        this.quiescence = quiescence;
    }

    /** Where the data path finds regions. */
    public StagTable stags() {
        return stags;
    }

    /**
     * Registers memory and enables it. The backing belongs to the region from then on; when this throws it is still the
     * caller's.
     *
     * @param queuePair the only queue pair that may use it, or 0 for all of the domain
     * @throws IllegalArgumentException for REMOTE_INVALIDATE without a queue pair: a peer must not invalidate what other
     *     streams share (RFC 5040 section 8.1.1 item 7); and for a range that exceeds 2^64
     * @throws IllegalStateException when the domain is deallocated
     * @throws RegionException LIMIT when there are too many regions
     */
    public MemoryRegion register(
            ProtectionDomain protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair) {
        if (queuePair == 0 && attributes.access().contains(AccessRight.REMOTE_INVALIDATE)) {
            throw new IllegalArgumentException(
                    "remote invalidation is only for regions of one connection: name it, or drop the right");
        }
        if (backing.length() < 1) {
            throw new IllegalArgumentException("a region has at least 1 octet");
        }
        if (TaggedAccess.wraps(attributes.baseTaggedOffset(), backing.length())) {
            throw new IllegalArgumentException("base tagged offset "
                    + Long.toUnsignedString(attributes.baseTaggedOffset()) + " plus length " + backing.length()
                    + " exceeds 2^64; choose a smaller base");
        }
        protectionDomain.retainRegion();
        try {
            return stags.add(stag -> new MemoryRegion(stag, protectionDomain, backing, attributes, queuePair));
        } catch (RuntimeException | Error e) {
            protectionDomain.releaseRegion();
            throw e;
        }
    }

    /**
     * Makes the STag unusable at once, waits until nobody works with the region, and releases its memory. Idempotent: all
     * callers see the same completion, on no thread of theirs.
     */
    public CompletableFuture<Void> deregister(MemoryRegion region) {
        if (region.beginRelease()) {
            stags.remove(region);
            // Not on the event loop that was last to finish: unmapping a large region takes long.
            quiescence.afterCurrentWork().whenCompleteAsync((ignored, failure) -> {
                if (failure == null) {
                    release(region);
                } else {
                    // Somebody may still be using the memory: leaving it mapped is the lesser evil.
                    region.released().completeExceptionally(failure);
                }
            });
        }
        return region.released().copy();
    }

    /** All registered regions, in no order. */
    public List<MemoryRegion> regions() {
        return stags.regions();
    }

    /**
     * Finds out which regions lost their backing, after an InternalError that may have surfaced late and away from the
     * copy that caused it. Marks them FAULTED.
     *
     * @return the regions that this call found broken
     */
    public List<MemoryRegion> onLateFault() {
        List<MemoryRegion> broken = new ArrayList<>();
        for (MemoryRegion region : stags.regions()) {
            if (region.isValid() && !region.verifyBacking()) {
                region.markFaulted();
                broken.add(region);
            }
        }
        return broken;
    }

    /** Last step of deregistration, when nobody uses the region any more. */
    static void release(MemoryRegion region) {
        release(region, CLOSE_ATTEMPTS);
    }

    private static void release(MemoryRegion region, int attempts) {
        try {
            region.backing().close();
        } catch (IllegalStateException e) {
            // A system call of another thread holds the memory for a moment.
            if (attempts > 0) {
                SOON.execute(() -> release(region, attempts - 1));
                return;
            }
            region.released().completeExceptionally(e);
            return;
        } catch (RuntimeException e) {
            region.released().completeExceptionally(e);
            return;
        }
        region.protectionDomain().releaseRegion();
        region.released().complete(null);
    }
}
