// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * How the file of a shared region comes to be. The sidecar removes a file that it created with its region; a sidecar that is
 * killed leaves it, and the next one keeps it for 30 s, or until another region needs the room.
 */
public enum CreateMode {
    /** The file must not exist. */
    MUST_BE_NEW,
    /**
     * Creates the file, or takes over with its content what an earlier sidecar created for the same user. Opens an
     * application's own file, which must be long enough and is not removed.
     */
    OPEN_OR_CREATE,
    /** Creates the file, in place of one that an earlier sidecar created for the same user. */
    REPLACE;

    io.sidewarp.v1.SharedBacking.Builder addTo(io.sidewarp.v1.SharedBacking.Builder backing) {
        return switch (this) {
            case MUST_BE_NEW -> backing.setCreate(true);
            case OPEN_OR_CREATE -> backing.setCreateMode(io.sidewarp.v1.CreateMode.CREATE_MODE_OPEN_OR_CREATE);
            case REPLACE -> backing.setCreateMode(io.sidewarp.v1.CreateMode.CREATE_MODE_REPLACE);
        };
    }
}
