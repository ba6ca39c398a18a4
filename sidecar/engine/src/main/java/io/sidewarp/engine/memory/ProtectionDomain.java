// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * A protection domain: regions are reachable through queue pairs of the same domain only (RFC 5040 section 8.1.1).
 * Counts its users, so that it cannot disappear under them. Compared by identity. Thread-safe.
 */
public final class ProtectionDomain {

    private final long id;
    private long regions;
    private long queuePairs;
    private long sharedReceiveQueues;
    private boolean deallocated;

    /** @param id number within the device, not 0 */
    public ProtectionDomain(long id) {
        this.id = id;
    }

    public long id() {
        return id;
    }

    /** Counts a region in. Refused with IllegalStateException after deallocation. */
    public synchronized void retainRegion() {
        checkAllocated();
        regions++;
    }

    /** Counts a region out. */
    public synchronized void releaseRegion() {
        checkCount(regions, "region");
        regions--;
    }

    /** Counts a queue pair in. Refused with IllegalStateException after deallocation. */
    public synchronized void retainQueuePair() {
        checkAllocated();
        queuePairs++;
    }

    /** Counts a queue pair out. */
    public synchronized void releaseQueuePair() {
        checkCount(queuePairs, "queue pair");
        queuePairs--;
    }

    /** Counts a shared receive queue in. Refused with IllegalStateException after deallocation. */
    public synchronized void retainSharedReceiveQueue() {
        checkAllocated();
        sharedReceiveQueues++;
    }

    /** Counts a shared receive queue out. */
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
     * Ends the domain. Refused with IllegalStateException while regions, queue pairs or shared receive queues use it;
     * idempotent.
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
            throw new IllegalStateException("protection domain " + id + " is deallocated");
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
