// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Settings of the node agent that are about its node. */
@ConfigMapping(prefix = "sidewarp.agent")
public interface AgentConfig {
    /** Name of the node, as Kubernetes has it. */
    @WithDefault("${NODE_NAME:}")
    Optional<String> nodeName();

    /** Version of the agent, for the status. */
    @WithDefault("${quarkus.application.version}")
    String version();

    /** Where the node's sysfs is mounted. */
    @WithDefault("/sys")
    Path sysfsRoot();

    /** Where a procfs of the node's network namespace is mounted. */
    @WithDefault("/proc")
    Path procRoot();

    /** Directory that outlives the agent: what NICs were before it changed them. */
    @WithDefault("/var/lib/sidewarp")
    Path stateDirectory();

    /** How long the kernel may take to answer a netlink request. */
    @WithDefault("10s")
    Duration netlinkTimeout();

    /** Prefix of the names of siw devices that the agent makes, at most 39 characters. Others are never removed. */
    @WithDefault("sidewarp-")
    String siwPrefix();

    /** How often the node is looked at without a reason. */
    @WithDefault("30s")
    Duration checkInterval();

    /** How often it is looked at while something is awaited: pods that have to go, RDMA devices, or the kubelet. */
    @WithDefault("2s")
    Duration retryInterval();

    /** How long RDMA devices of functions that were made, or switched to iWARP, are waited for; anew with each that comes. */
    @WithDefault("15s")
    Duration rdmaPatience();
}
