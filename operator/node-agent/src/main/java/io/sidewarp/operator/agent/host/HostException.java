// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;

/**
 * The kernel refused an operation. The message names the operation, the error number and, if present, the driver's
 * explanation.
 */
public final class HostException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * Makes an exception for a refused operation.
     *
     * @param operation operation in words for people
     * @param errno the kernel's error number, positive
     * @param explanation text from the driver (NLMSGERR_ATTR_MSG); may be empty
     */
    public HostException(String operation, int errno, String explanation) {
        super(operation + " failed: " + Errno.describe(errno) + (explanation.isEmpty() ? "" : ": " + explanation));
        this.errno = errno;
    }

    public HostException(String operation, Errno errno) {
        this(operation, errno.number(), "");
    }

    @Override
    public String getMessage() {
        return Objects.requireNonNull(super.getMessage());
    }

    /** Returns the error number; empty if the agent has no name for it. */
    public Optional<Errno> errno() {
        return Errno.of(errno);
    }

    public boolean is(Errno other) {
        return errno == other.number();
    }
}
