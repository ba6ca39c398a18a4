// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

/**
 * Limits of what an application may use of a device. The device may have lower limits.
 *
 * @param sendQueue entries of a send queue
 * @param receiveQueue entries of a receive queue
 * @param ird inbound RDMA Read Requests of a connection, 0 to 255
 * @param ord outbound RDMA Read Requests of a connection, 0 to 255
 */
public record KernelLimits(int sendQueue, int receiveQueue, int ird, int ord) {

    /** Returns the defaults: 16384 entries for each queue, and 64 for IRD and ORD. */
    public static KernelLimits defaults() {
        return new KernelLimits(16_384, 16_384, 64, 64);
    }
}
