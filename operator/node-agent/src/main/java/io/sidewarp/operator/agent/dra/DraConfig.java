// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;

/** Directories of Dynamic Resource Allocation. The kubelet and the container runtime must know them by the same paths. */
@ConfigMapping(prefix = "sidewarp.agent")
public interface DraConfig {

    /** Directory that the kubelet watches for sockets of drivers. */
    @WithDefault("/var/lib/kubelet/plugins_registry")
    Path pluginRegistryDirectory();

    /** Directory with the socket of the driver. The agent makes the directory. */
    @WithDefault("/var/lib/kubelet/plugins/rnic.sidewarp.io")
    Path draPluginDirectory();

    /** Directory from which the container runtime reads files of the Container Device Interface. */
    @WithDefault("/var/run/cdi")
    Path cdiDirectory();
}
