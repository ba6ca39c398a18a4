// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Registers and deregisters memory. Deregistration is the revocation of RFC 5040 section 8.1.1 item 6. Once its future
 * is complete, no access places data in the memory or reads from it. Thread-safe.
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

    /** Returns the table in which the data path finds regions. */
    public StagTable stags() {
        return stags;
    }

    /**
     * Registers memory and enables it. The region owns the backing from then on. If this method throws, the caller
     * still owns the backing.
     *
     * @param queuePair the only queue pair that may use the region, or 0 for all queue pairs of the domain
     * @throws IllegalArgumentException for REMOTE_INVALIDATE without a queue pair, and for a range that exceeds 2^64. A
     *     peer must not invalidate a region that other streams share (RFC 5040 section 8.1.1 item 7)
     * @throws IllegalStateException when the domain is deallocated
     * @throws RegionException LIMIT when too many regions are registered
     */
    public MemoryRegion register(
            Pd protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair) {
        if (queuePair == 0 && attributes.access().contains(AccessRight.REMOTE_INVALIDATE)) {
            throw new IllegalArgumentException("remote invalidation is only for regions of one connection:"
                    + " name the connection, or drop the right");
        }
        if (backing.length() < 1) {
            throw new IllegalArgumentException("a region needs at least 1 byte");
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
     * Makes the STag unusable at once, waits until no work uses the region, and releases its memory. Idempotent: all
     * callers get the same completion, which never runs on a thread of a caller.
     */
    public CompletableFuture<Void> deregister(MemoryRegion region) {
        if (region.beginRelease()) {
            stags.remove(region);
            // Runs asynchronously, because unmapping a large region would block the event loop that finished last.
            quiescence.afterCurrentWork().whenCompleteAsync((ignored, failure) -> {
                if (failure == null) {
                    release(region);
                } else {
                    // Work may still use the memory. Leaving the memory mapped is the lesser evil.
                    region.released().completeExceptionally(failure);
                }
            });
        }
        return region.released().copy();
    }

    /** Returns all registered regions, in no particular order. */
    public List<MemoryRegion> regions() {
        return stags.regions();
    }

    /**
     * Finds the regions that lost their backing, and marks them FAULTED. Called after an InternalError, which may
     * surface late and far from the copy that caused it.
     *
     * @return regions that this call found broken
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

    /** Completes a deregistration when no work uses the region any more. */
    static void release(MemoryRegion region) {
        release(region, CLOSE_ATTEMPTS);
    }

    private static void release(MemoryRegion region, int attempts) {
        try {
            region.backing().close();
        } catch (IllegalStateException e) {
            // A system call on another thread briefly uses the memory.
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
