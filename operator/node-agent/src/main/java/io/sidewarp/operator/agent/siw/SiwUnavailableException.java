// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

/** No siw device is available. The message says why, and what to do. The agent offers the software engine instead. */
public final class SiwUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** The kernel has no RDMA subsystem, and no module for it. */
        NO_RDMA_SUBSYSTEM,
        /** The kernel has no siw, and no module for it. */
        NO_SIW_MODULE,
        /** No interface was named, and there is no default route. */
        NO_INTERFACE,
        /** The named interface does not exist, or siw does not accept it. */
        UNSUITABLE_INTERFACE,
        /** The interface has a device of another owner whose shares cannot be offered. */
        UNSUITABLE_DEVICE,
        /** The agent may not change the kernel's RDMA devices. */
        NOT_PERMITTED,
        /** The kernel refused for another reason. */
        KERNEL_ERROR
    }

    private final Reason reason;

    SiwUnavailableException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    SiwUnavailableException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
