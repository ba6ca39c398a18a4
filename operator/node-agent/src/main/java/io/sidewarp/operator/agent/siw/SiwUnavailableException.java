// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

/** There can be no siw device; the message says why and what to do. The agent offers the software engine instead. */
public final class SiwUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** The kernel has no RDMA subsystem, and no module for it. */
        NO_RDMA_SUBSYSTEM,
        /** The kernel has no siw, and no module for it. */
        NO_SIW_MODULE,
        /** No interface was named, and there is no default route. */
        NO_INTERFACE,
        /** There is no interface of that name, or it is none that siw takes. */
        UNSUITABLE_INTERFACE,
        /** Somebody else's device is on the interface, and its shares cannot be offered. */
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
