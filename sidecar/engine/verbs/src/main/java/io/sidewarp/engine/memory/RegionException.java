// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Thrown when memory cannot be prepared or registered. The message tells the reason and what to do. */
public final class RegionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Kind of failure. */
    public enum Reason {
        /** The path is malformed or contains a symbolic link. */
        INVALID_PATH,
        NOT_FOUND,
        ALREADY_EXISTS,
        /** Offset or length do not fit the file or the page size. */
        OUT_OF_BOUNDS,
        /** The volume or the memory reserved for regions is exhausted. */
        NO_SPACE,
        /** The path names something that is not a regular file. */
        NOT_A_FILE,
        /** The descriptor is not of the memory of a process. */
        NOT_PROCESS_MEMORY,
        /** The device cannot use this kind of memory. */
        UNSUPPORTED,
        /** Too many regions are registered. */
        LIMIT,
        /** The mode of the file does not let this process use the file. */
        NO_PERMISSION,
        /** The operating system refused the operation. */
        IO
    }

    private final Reason reason;

    public RegionException(Reason reason, String message) {
        this(reason, message, null);
    }

    public RegionException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason);
    }

    public Reason reason() {
        return reason;
    }
}
