// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.Limits;

/**
 * Configured limits, capped by the capabilities of the device.
 *
 * @param settings settings, whose queues and read depths the other components cap
 */
public record EffectiveLimits(
        SidewarpConfig.Limits settings, int sendQueue, int receiveQueue, int sge, int ird, int ord, int privateData) {

    /** Combines settings and capabilities. */
    public static EffectiveLimits of(SidewarpConfig.Limits settings, DeviceAttributes device) {
        return new EffectiveLimits(
                settings,
                Math.min(settings.sendQueue(), device.maxSendQueue()),
                Math.min(settings.receiveQueue(), device.maxReceiveQueue()),
                device.maxSge(),
                Math.min(settings.ird(), device.maxIrd()),
                Math.min(settings.ord(), device.maxOrd()),
                device.maxPrivateData());
    }

    /** Returns the limits in the form of the API. */
    public Limits toProto() {
        return Limits.newBuilder()
                .setMaxRegions(settings.regions())
                .setMaxRegisteredOctets(settings.registeredOctets())
                .setMaxManagedRegionOctets(settings.managedRegionOctets())
                .setMaxConnections(settings.connections())
                .setMaxListeners(settings.listeners())
                .setMaxSendQueue(sendQueue)
                .setMaxReceiveQueue(receiveQueue)
                .setMaxSge(sge)
                .setMaxIrd(ird)
                .setMaxOrd(ord)
                .setMaxPrivateData(privateData)
                .setMaxQueueOutstanding(settings.queueOutstanding())
                .setMaxProtectionDomains(settings.protectionDomains())
                .setMaxCompletionEntries(settings.completionEntries())
                .setMaxReadRequests(settings.readRequests())
                .setMaxReceives(settings.receives())
                .setMaxSharedReceiveQueues(settings.sharedReceiveQueues())
                .build();
    }
}
