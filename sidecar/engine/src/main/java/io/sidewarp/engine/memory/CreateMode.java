// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** Tells what happens to a file of the shared volume when a part of it becomes a region. */
public enum CreateMode {
    /** The file must exist. It stays when the region goes. */
    NONE,
    /** The file must not exist. It is created, and removed with the region. */
    MUST_BE_NEW,
    /**
     * The file is created, or taken over with its content when an earlier sidecar created it for the same user: then it
     * is removed with the region. A file that no sidecar created is opened as with {@link #NONE}.
     */
    OPEN_OR_CREATE,
    /**
     * The file is created, after one that an earlier sidecar created for the same user is removed. A file that no
     * sidecar created is never removed.
     */
    REPLACE;

    /** Whether a missing file is created. */
    public boolean creates() {
        return this != NONE;
    }
}
