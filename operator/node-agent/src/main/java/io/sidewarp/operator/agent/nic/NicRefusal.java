// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * A wish of a policy that a NIC cannot fulfil.
 *
 * @param reason kind of refusal
 * @param message what is refused, why, and what to do
 */
public record NicRefusal(Reason reason, String message) {

    public enum Reason {
        /** The NIC speaks RoCE or InfiniBand. Nothing is changed in it. */
        NOT_IWARP,
        /** The NIC cannot have virtual functions. */
        NO_SRIOV,
        /** The NIC cannot have as many virtual functions. */
        TOO_MANY_VIRTUAL_FUNCTIONS,
        /** No driver is bound to the NIC. */
        NO_DRIVER,
        /** Only the kernel can use the NIC's RDMA. */
        NO_USER_SPACE_ACCESS,
        /** The present value cannot be read; the attribute stays unchanged. */
        UNREADABLE
    }
}
