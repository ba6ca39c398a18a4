// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;

/** The kernel refused an operation. The message names the operation, the error number and, if there is one, the driver's words. */
public final class HostException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * @param operation what was tried, as a person would call it
     * @param errno the kernel's error number, positive
     * @param explanation what the driver said (NLMSGERR_ATTR_MSG), may be empty
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

    /** The error number if the agent has a name for it. */
    public Optional<Errno> errno() {
        return Errno.of(errno);
    }

    public boolean is(Errno other) {
        return errno == other.number();
    }
}
