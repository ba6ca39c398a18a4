// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Memory could not be prepared or registered. The message says why and what to do about it. */
public final class RegionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Kind of failure. */
    public enum Reason {
        /** The path is malformed or leads over a symbolic link. */
        INVALID_PATH,
        NOT_FOUND,
        ALREADY_EXISTS,
        /** Offset or length do not fit the file or the page size. */
        OUT_OF_BOUNDS,
        /** The volume or the memory set aside for regions is exhausted. */
        NO_SPACE,
        /** The path names something that is not a regular file. */
        NOT_A_FILE,
        /** Too many regions are registered. */
        LIMIT,
        /** The file's mode does not let this process use it. */
        NO_PERMISSION,
        /** The operating system refused. */
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
