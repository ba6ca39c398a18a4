// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.net.NetSettings;
import java.time.Duration;

/**
 * Settings of the software provider.
 *
 * @param maxSendQueue maximum number of entries of a send queue
 * @param maxReceiveQueue maximum number of entries of a receive queue
 * @param maxIrd maximum number of inbound RDMA Read Requests and Atomic Requests of a queue pair
 * @param maxOrd maximum number of outbound RDMA Read Requests and Atomic Requests of a queue pair
 * @param extensions whether connections have Immediate Data and atomic operations (RFC 7306)
 * @param maxRegions maximum number of regions registered at a time
 * @param maxShortSegments maximum number of short segments of one inbound message, not counting its last; an honest
 *     peer rarely sends short segments
 * @param terminateTimeout how long a terminated stream may take to deliver its Terminate and close
 * @param firstFpduDelay how long an Initiator waits after the peer's MPA Reply before it sends FPDUs; some peers, such
 *     as Linux siw, may overlook an FPDU that comes at once
 */
public record SoftwareSettings(
        NetSettings net,
        int maxSendQueue,
        int maxReceiveQueue,
        int maxIrd,
        int maxOrd,
        boolean extensions,
        int maxRegions,
        int maxShortSegments,
        Duration terminateTimeout,
        Duration firstFpduDelay) {

    /**
     * Returns the defaults: queues of at most 65,536 entries, IRD and ORD at most 256, with RFC 7306, 65,536 regions,
     * 4,096 short segments, 5 s, no delay.
     */
    public static SoftwareSettings defaults() {
        return new SoftwareSettings(
                NetSettings.defaults(),
                65_536,
                65_536,
                256,
                256,
                true,
                65_536,
                4096,
                Duration.ofSeconds(5),
                Duration.ZERO);
    }

    public SoftwareSettings withNet(NetSettings settings) {
        return new SoftwareSettings(
                settings,
                maxSendQueue,
                maxReceiveQueue,
                maxIrd,
                maxOrd,
                extensions,
                maxRegions,
                maxShortSegments,
                terminateTimeout,
                firstFpduDelay);
    }

    SoftwareSettings withFirstFpduDelay(Duration delay) {
        return new SoftwareSettings(
                net,
                maxSendQueue,
                maxReceiveQueue,
                maxIrd,
                maxOrd,
                extensions,
                maxRegions,
                maxShortSegments,
                terminateTimeout,
                delay);
    }
}
