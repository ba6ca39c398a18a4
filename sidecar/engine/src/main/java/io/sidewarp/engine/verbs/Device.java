// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** An open RDMA device, whatever carries it out. Thread-safe. */
public interface Device extends AutoCloseable {

    DeviceAttributes attributes();

    /** Why {@link DeviceAttributes#llps} lacks a lower layer, and what to do, for people; empty for one that is there. */
    Optional<String> absence(Llp llp);

    /** Whether {@link QueuePair#connect(List, ConnectionParameters)} takes several addresses over a lower layer. */
    default boolean racesAddresses(Llp llp) {
        return false;
    }

    ProtectionDomain allocateProtectionDomain();

    /** Refused with IllegalStateException while regions, queue pairs or shared receive queues use it. */
    void deallocateProtectionDomain(ProtectionDomain protectionDomain);

    /**
     * Registers memory: gives it an STag and enables it. Blocks while pages are prepared.
     *
     * @param queuePair the only queue pair that may use it ({@link QueuePair#number()}), or 0 for all of the domain
     */
    MemoryRegion registerMemory(
            ProtectionDomain protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair);

    /**
     * Revokes a region's STag and releases its backing. Complete when nothing can be placed into it or read from it any
     * more (RFC 5040 section 8.1.1 item 6).
     */
    CompletableFuture<Void> deregisterMemory(MemoryRegion region);

    /** @param capacity completions that it holds, at least 1 */
    CompletionQueue createCompletionQueue(int capacity);

    /** @param capacity receives that it holds, at least 1 */
    SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain protectionDomain, int capacity);

    QueuePair createQueuePair(QueuePairAttributes attributes);

    /** Listens. The future fails with ConnectionFailedException when the address cannot be bound. */
    CompletableFuture<Listener> listen(
            InetSocketAddress address, ListenAttributes attributes, ConnectionRequestHandler handler);

    /** SCTP associations that are up, and how they do. */
    CompletableFuture<List<AssociationAttributes>> associations();

    /** Closes everything that is left. */
    @Override
    void close();
}
