// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.v1.Limits;

/** Configured limits, capped by the capabilities of the device. */
public record EffectiveLimits(
        int sessions,
        int regions,
        int totalRegions,
        long registeredOctets,
        long managedRegionOctets,
        long managedOctets,
        int connections,
        int lookups,
        long completionEntries,
        long workEntries,
        long readRequests,
        long receives,
        int sharedReceiveQueues,
        int peerConnections,
        long peerReadRequests,
        int listeners,
        int protectionDomains,
        int sendQueue,
        int receiveQueue,
        int sge,
        int ird,
        int ord,
        int privateData,
        int queueOutstanding,
        int backlog,
        int startupConnections) {

    /** Combines settings and capabilities. */
    public static EffectiveLimits of(SidewarpConfig.Limits config, DeviceAttributes device) {
        return new EffectiveLimits(
                config.sessions(),
                config.regions(),
                config.totalRegions(),
                config.registeredOctets(),
                config.managedRegionOctets(),
                config.managedOctets(),
                config.connections(),
                config.lookups(),
                config.completionEntries(),
                config.workEntries(),
                config.readRequests(),
                config.receives(),
                config.sharedReceiveQueues(),
                config.peerConnections(),
                config.peerReadRequests(),
                config.listeners(),
                config.protectionDomains(),
                Math.min(config.sendQueue(), device.maxSendQueue()),
                Math.min(config.receiveQueue(), device.maxReceiveQueue()),
                device.maxSge(),
                Math.min(config.ird(), device.maxIrd()),
                Math.min(config.ord(), device.maxOrd()),
                device.maxPrivateData(),
                config.queueOutstanding(),
                config.backlog(),
                config.startupConnections());
    }

    /** Returns the limits in the form of the API. */
    public Limits toProto() {
        return Limits.newBuilder()
                .setMaxRegions(regions)
                .setMaxRegisteredOctets(registeredOctets)
                .setMaxManagedRegionOctets(managedRegionOctets)
                .setMaxConnections(connections)
                .setMaxListeners(listeners)
                .setMaxSendQueue(sendQueue)
                .setMaxReceiveQueue(receiveQueue)
                .setMaxSge(sge)
                .setMaxIrd(ird)
                .setMaxOrd(ord)
                .setMaxPrivateData(privateData)
                .setMaxQueueOutstanding(queueOutstanding)
                .setMaxProtectionDomains(protectionDomains)
                .setMaxCompletionEntries(completionEntries)
                .setMaxReadRequests(readRequests)
                .setMaxReceives(receives)
                .setMaxSharedReceiveQueues(sharedReceiveQueues)
                .build();
    }
}
