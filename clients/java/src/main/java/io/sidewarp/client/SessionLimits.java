// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Limits of a session (quotas of the resource manager, RFC 5040 section 8.1.2) and of single objects, as the sidecar is
 * configured.
 *
 * @param maxRegions regions of a session
 * @param maxRegisteredBytes bytes that a session registers, over all regions
 * @param maxManagedRegionBytes bytes of one managed region
 * @param maxConnections connections of a session, counted until they are closed
 * @param maxListeners listeners of a session
 * @param maxSendQueue work requests outstanding on the send queue of a connection
 * @param maxReceiveQueue receives outstanding on a connection or a shared receive queue
 * @param maxSge elements of a gather or scatter list
 * @param maxIrd inbound RDMA Read Requests and Atomic Requests of a connection
 * @param maxOrd outbound RDMA Read Requests and Atomic Requests of a connection
 * @param maxPrivateData bytes of private data to connect, accept or reject. A start-up that negotiates read depths
 *     leaves less: see {@link IncomingConnection#maxPrivateData()}.
 * @param maxQueueOutstanding work requests outstanding on one {@link WorkQueue}
 * @param maxProtectionDomains protection domains of a session
 * @param maxCompletionEntries completion queue entries of a session. A connection counts with its send queue plus its
 *     own receive queue, and a shared receive queue with its capacity.
 * @param maxReadRequests inbound RDMA Read Requests of a session, over all connections
 * @param maxReceives receive queue entries of a session, over all connections and shared receive queues
 * @param maxSharedReceiveQueues shared receive queues of a session
 */
public record SessionLimits(
        int maxRegions,
        long maxRegisteredBytes,
        long maxManagedRegionBytes,
        int maxConnections,
        int maxListeners,
        int maxSendQueue,
        int maxReceiveQueue,
        int maxSge,
        int maxIrd,
        int maxOrd,
        int maxPrivateData,
        int maxQueueOutstanding,
        int maxProtectionDomains,
        long maxCompletionEntries,
        long maxReadRequests,
        long maxReceives,
        int maxSharedReceiveQueues) {}
