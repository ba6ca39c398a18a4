// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * A protection domain. Regions are reachable only through queue pairs of the same domain (RFC 5040 section 8.1.1).
 * Counts its users, so that the domain cannot be deallocated while it is in use. Domains are compared by identity.
 * Thread-safe.
 */
public final class Pd {

    private final long id;
    private long regions;
    private long queuePairs;
    private long sharedReceiveQueues;
    private boolean deallocated;

    /** @param id number within the device, not 0 */
    public Pd(long id) {
        this.id = id;
    }

    public long id() {
        return id;
    }

    /** Adds a region to the users. Throws IllegalStateException after deallocation. */
    public synchronized void retainRegion() {
        checkAllocated();
        regions++;
    }

    /** Removes a region from the users. */
    public synchronized void releaseRegion() {
        checkCount(regions, "region");
        regions--;
    }

    /** Adds a queue pair to the users. Throws IllegalStateException after deallocation. */
    public synchronized void retainQueuePair() {
        checkAllocated();
        queuePairs++;
    }

    /** Removes a queue pair from the users. */
    public synchronized void releaseQueuePair() {
        checkCount(queuePairs, "queue pair");
        queuePairs--;
    }

    /** Adds a shared receive queue to the users. Throws IllegalStateException after deallocation. */
    public synchronized void retainSharedReceiveQueue() {
        checkAllocated();
        sharedReceiveQueues++;
    }

    /** Removes a shared receive queue from the users. */
    public synchronized void releaseSharedReceiveQueue() {
        checkCount(sharedReceiveQueues, "shared receive queue");
        sharedReceiveQueues--;
    }

    public synchronized long regions() {
        return regions;
    }

    public synchronized long queuePairs() {
        return queuePairs;
    }

    /**
     * Deallocates the domain. Throws IllegalStateException while regions, queue pairs or shared receive queues use the
     * domain. Idempotent.
     */
    public synchronized void deallocate() {
        if (regions != 0 || queuePairs != 0 || sharedReceiveQueues != 0) {
            throw new IllegalStateException("protection domain " + id + " is in use by " + regions + " regions, "
                    + queuePairs + " queue pairs and " + sharedReceiveQueues
                    + " shared receive queues; release them first");
        }
        deallocated = true;
    }

    private void checkAllocated() {
        if (deallocated) {
            throw new IllegalStateException("protection domain " + id + " is deallocated; use another domain");
        }
    }

    private void checkCount(long count, String what) {
        if (count == 0) {
            throw new IllegalStateException("protection domain " + id + " has no " + what + " to release");
        }
    }

    @Override
    public String toString() {
        return "protection domain " + id;
    }
}
