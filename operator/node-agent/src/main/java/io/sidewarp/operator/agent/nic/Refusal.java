// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * Something that is asked of a NIC and that the NIC cannot have.
 *
 * @param message what and why, and what to do
 */
public record Refusal(Reason reason, String message) {

    public enum Reason {
        /** It speaks RoCE or InfiniBand. Nothing is changed in it. */
        NOT_IWARP,
        /** It cannot have virtual functions. */
        NO_SRIOV,
        /** It cannot have as many virtual functions. */
        TOO_MANY_VIRTUAL_FUNCTIONS,
        /** No driver is bound to it. */
        NO_DRIVER,
        /** Its RDMA is there for the kernel alone. */
        NO_USER_SPACE_ACCESS,
        /** What it is now cannot be read, so that it is left. */
        UNREADABLE
    }
}
