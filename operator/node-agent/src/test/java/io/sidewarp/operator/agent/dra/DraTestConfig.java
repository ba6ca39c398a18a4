// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import java.nio.file.Path;

/** Directories below one of a test. A stand-in kubelet of the directory {@code kubelet} there finds the driver. */
public record DraTestConfig(Path pluginRegistryDirectory, Path draPluginDirectory, Path cdiDirectory)
        implements DraConfig {

    public DraTestConfig(Path directory) {
        this(
                directory.resolve("kubelet/plugins_registry"),
                directory.resolve("kubelet/plugins/rnic"),
                directory.resolve("cdi"));
    }
}
