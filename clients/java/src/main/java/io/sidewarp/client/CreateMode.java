// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Mode in which the file of a shared region is created. The sidecar removes a file that it created together with its
 * region. A sidecar that is killed leaves the file. The next sidecar keeps the file for 30 s, or until another region
 * needs the space.
 */
public enum CreateMode {
    /** Creates the file, which must not exist. */
    MUST_BE_NEW,
    /**
     * Creates the file, or takes over, with its content, a file that an earlier sidecar created for the same user. A
     * file of the application is opened: it must be long enough, and it is not removed.
     */
    OPEN_OR_CREATE,
    /** Creates the file. It replaces a file that an earlier sidecar created for the same user. */
    REPLACE
}
