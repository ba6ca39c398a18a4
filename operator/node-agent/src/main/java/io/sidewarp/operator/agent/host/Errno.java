// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.Arrays;
import java.util.Optional;

/** Error numbers of Linux (errno-base.h, errno.h of asm-generic) that the kernel's network drivers return. */
public enum Errno {
    EPERM(1, "operation not permitted"),
    ENOENT(2, "no such entry"),
    EINTR(4, "interrupted"),
    EIO(5, "input/output error"),
    ENXIO(6, "no such device or address"),
    EAGAIN(11, "no answer in time"),
    ENOMEM(12, "out of memory"),
    EACCES(13, "permission denied"),
    EBUSY(16, "device or resource busy"),
    EEXIST(17, "it exists already"),
    ENODEV(19, "no such device"),
    EINVAL(22, "invalid argument"),
    ENFILE(23, "too many of them"),
    ENOSPC(28, "no space left"),
    EROFS(30, "read-only file system"),
    ERANGE(34, "out of range"),
    ENOSYS(38, "not implemented"),
    ENODATA(61, "no data available"),
    ETIME(62, "timer expired"),
    EPROTONOSUPPORT(93, "protocol not supported"),
    EOPNOTSUPP(95, "operation not supported"),
    ENETDOWN(100, "network is down"),
    ENOBUFS(105, "no buffer space available"),
    ETIMEDOUT(110, "timed out"),
    /** Returned by drivers that mean EOPNOTSUPP. */
    ENOTSUPP(524, "operation not supported by the driver");

    private final int number;
    private final String description;

    Errno(int number, String description) {
        this.number = number;
        this.description = description;
    }

    public int number() {
        return number;
    }

    /** Returns the constant for a number; empty if the agent has no name for it. */
    public static Optional<Errno> of(int number) {
        return Arrays.stream(values()).filter(errno -> errno.number == number).findFirst();
    }

    /** Returns name and meaning for messages, or only the number if it has no name. */
    static String describe(int number) {
        return of(number)
                .map(errno -> errno.name() + ", " + errno.description)
                .orElseGet(() -> "error number " + number);
    }
}
