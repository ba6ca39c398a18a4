// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Locations of the node's kernel interfaces.
 *
 * @param sysfsRoot mount point of sysfs
 * @param procRoot mount point of procfs
 * @param netlinkTimeout maximum time to wait for one answer of the kernel
 */
public record HostSettings(Path sysfsRoot, Path procRoot, Duration netlinkTimeout) {

    public static final HostSettings DEFAULT =
            new HostSettings(Path.of("/sys"), Path.of("/proc"), Duration.ofSeconds(10));

    public HostSettings {
        if (netlinkTimeout.toMillis() < 1) {
            throw new IllegalArgumentException("the netlink timeout has to be at least 1 ms, not " + netlinkTimeout);
        }
    }
}
