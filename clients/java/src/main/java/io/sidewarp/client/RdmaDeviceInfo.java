// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;

/**
 * The RDMA device of a sidecar.
 *
 * @param provider "software", the sidecar's own engine, or "kernel", an iWARP device of the kernel
 * @param version version of the sidecar
 * @param llps lower layer protocols that connections can use here
 * @param sharedVolume path of the volume for shared regions in the sidecar. An application mounts the same volume, not
 *     necessarily at the same path. Empty if shared regions are switched off.
 * @param limits limits of each session
 * @param pageSize page size of the shared volume in bytes; 0 if shared regions are switched off. Shared regions begin
 *     at multiples of the page size.
 * @param capabilities operations that connections support beyond Write, Read and Send
 */
public record RdmaDeviceInfo(
        String provider,
        String version,
        List<LowerLayerProtocol> llps,
        String sharedVolume,
        SessionLimits limits,
        long pageSize,
        List<Capability> capabilities) {

    /**
     * Operations that not every device and configuration supports. The peer must support the operation too, and the
     * protocol does not announce it in advance. A peer without support ends the connection with "Unexpected OpCode".
     */
    public enum Capability {
        /** {@link WorkRequest#immediate} and {@link WorkRequest#withImmediate} (RFC 7306 section 6). */
        IMMEDIATE_DATA,
        /**
         * {@link WorkRequest#fetchAdd} and {@link WorkRequest#compareSwap}, of this side and of peers (RFC 7306 section
         * 5). Each operation is atomic among all connections of this sidecar.
         */
        ATOMIC_OPERATIONS
    }
}
