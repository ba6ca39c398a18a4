// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;

/** Settings of the node agent that are about the kubelet. */
@ConfigMapping(prefix = "sidewarp.agent")
public interface DevicePluginConfig {

    /** Directory with kubelet.sock, where the plugin has its own socket too. */
    @WithDefault("/var/lib/kubelet/device-plugins")
    Path devicePluginDirectory();

    /** Socket at which the kubelet tells which pod has which device. */
    @WithDefault("/var/lib/kubelet/pod-resources/kubelet.sock")
    Path podResourcesSocket();

    /** How long the kubelet may take to answer a call. */
    @WithDefault("10s")
    Duration kubeletTimeout();

    /** Wait after the first registration that fails. Doubled after each further one. */
    @WithDefault("1s")
    Duration registrationRetry();

    /** Longest wait between two registrations that fail. */
    @WithDefault("30s")
    Duration registrationRetryMax();

    /** How often the sockets are looked at, beside notifications of the file system. */
    @WithDefault("5s")
    Duration kubeletCheckInterval();

    /** How long a kubelet that accepted the registration may fail to watch the devices before the plugin registers again. */
    @WithDefault("30s")
    Duration kubeletWatchTimeout();
}
