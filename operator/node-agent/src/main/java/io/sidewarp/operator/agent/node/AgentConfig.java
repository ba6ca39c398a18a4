// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Settings of the node agent that concern its node. */
@ConfigMapping(prefix = "sidewarp.agent")
public interface AgentConfig {
    /** Name of the node in Kubernetes. */
    @WithDefault("${NODE_NAME:}")
    Optional<String> nodeName();

    /** Version of the agent, as reported in the status. */
    @WithDefault("${quarkus.application.version}")
    String version();

    /** Mount point of the node's sysfs. */
    @WithDefault("/sys")
    Path sysfsRoot();

    /** Mount point of a procfs of the node's network namespace. */
    @WithDefault("/proc")
    Path procRoot();

    /**
     * Directory that outlives the agent. It contains the original values of NIC attributes that the agent has changed.
     */
    @WithDefault("/var/lib/sidewarp")
    Path stateDirectory();

    /** Timeout of a netlink request to the kernel. */
    @WithDefault("10s")
    Duration netlinkTimeout();

    /**
     * Prefix of the names of siw devices that the agent makes, at most 39 characters. Devices with other names are
     * never removed.
     */
    @WithDefault("sidewarp-")
    String siwPrefix();

    /** Interval between two looks at the node when nothing triggers one. */
    @WithDefault("30s")
    Duration checkInterval();

    /** Interval between two looks while the agent waits for pods to go, for RDMA devices, or for the kubelet. */
    @WithDefault("2s")
    Duration retryInterval();

    /**
     * Maximum time to wait for RDMA devices after functions were made or switched to iWARP. Starts again with each
     * device that appears.
     */
    @WithDefault("15s")
    Duration rdmaPatience();
}
