// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** Handling of a file of the shared volume when a part of the file becomes a region. */
public enum RegionFileMode {
    /** The file must exist. It remains after the region is deregistered. */
    NONE,
    /** The file must not exist. It is created now, and removed with the region. */
    MUST_BE_NEW,
    /**
     * A missing file is created. A file that an earlier sidecar created for the same user is taken over with its
     * content. In both cases the file is removed with the region. A file that no sidecar created is opened as with
     * {@link #NONE}.
     */
    OPEN_OR_CREATE,
    /**
     * The file is created. A file that an earlier sidecar created for the same user is removed first. A file that no
     * sidecar created is never removed.
     */
    REPLACE;

    /** Returns whether a missing file is created. */
    public boolean creates() {
        return this != NONE;
    }
}
