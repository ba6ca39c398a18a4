// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** An open RDMA device of any provider. Thread-safe. */
public interface Device extends AutoCloseable {

    DeviceAttributes attributes();

    /**
     * Returns why {@link DeviceAttributes#llps} lacks a lower layer and what to do, as text for people. Empty for a
     * lower layer that the device has.
     */
    Optional<String> absence(Llp llp);

    /**
     * Returns whether {@link QueuePair#connect(List, ConnectionParameters)} takes several addresses over a lower layer.
     */
    default boolean racesAddresses(Llp llp) {
        return false;
    }

    Pd allocateProtectionDomain();

    /**
     * Releases a domain. Throws IllegalStateException while regions, queue pairs or shared receive queues use the
     * domain.
     */
    void deallocateProtectionDomain(Pd protectionDomain);

    /**
     * Registers memory: gives the memory an STag and enables the STag. Blocks while pages are prepared.
     *
     * @param queuePair number of the only queue pair that may use the region ({@link QueuePair#number()}), or 0 for all
     *     queue pairs of the domain
     */
    MemoryRegion registerMemory(
            Pd protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair);

    /**
     * Revokes the STag of a region and releases its backing. The future completes when no access through the STag can
     * place or read data any more (RFC 5040 section 8.1.1 item 6).
     */
    CompletableFuture<Void> deregisterMemory(MemoryRegion region);

    /** @param capacity completions that the queue holds, at least 1 */
    CompletionQueue createCompletionQueue(int capacity);

    /** @param capacity receives that the queue holds, at least 1 */
    Srq createSharedReceiveQueue(Pd protectionDomain, int capacity);

    QueuePair createQueuePair(QueuePairAttributes attributes);

    /** Listens. The future fails with ConnectionFailedException when the device cannot bind the address. */
    CompletableFuture<VerbsListener> listen(
            InetSocketAddress address, ListenAttributes attributes, ConnectionRequestHandler handler);

    /** Returns the SCTP associations that are up, with their counters. */
    CompletableFuture<List<AssociationAttributes>> associations();

    /** Closes the device and everything that was created with it. */
    @Override
    void close();
}
