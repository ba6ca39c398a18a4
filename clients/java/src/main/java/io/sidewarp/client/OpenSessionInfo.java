// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * An open session of any client, as the sidecar lists it.
 *
 * @param name name given to {@link SidewarpClient#openSession}
 * @param uid user id of the client; -1 if the transport does not report it. Only Unix sockets do.
 * @param pid process id of the client, as the sidecar's container numbers it. 0 if the client is in another container;
 *     -1 if the transport does not report it.
 * @param regions number of regions
 * @param connections number of connections
 * @param listeners number of listeners
 * @param registeredBytes bytes of all regions
 * @param sharedReceiveQueues number of shared receive queues
 */
public record OpenSessionInfo(
        String name,
        long uid,
        long pid,
        int regions,
        int connections,
        int listeners,
        long registeredBytes,
        int sharedReceiveQueues) {}
