// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

/**
 * What an application may have of a device, if the device allows as much.
 *
 * @param sendQueue entries of a send queue
 * @param receiveQueue entries of a receive queue
 * @param ird inbound RDMA Read Requests of a connection, 0 to 255
 * @param ord outbound RDMA Read Requests of a connection, 0 to 255
 */
public record KernelLimits(int sendQueue, int receiveQueue, int ird, int ord) {

    /** 16384 entries of each queue, IRD and ORD 64. */
    public static KernelLimits defaults() {
        return new KernelLimits(16_384, 16_384, 64, 64);
    }
}
