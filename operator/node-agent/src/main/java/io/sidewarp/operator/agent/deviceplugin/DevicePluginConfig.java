// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;

/** Settings of the node agent that concern the kubelet. */
@ConfigMapping(prefix = "sidewarp.agent")
public interface DevicePluginConfig {

    /** Directory with kubelet.sock. The plugin's socket is in the same directory. */
    @WithDefault("/var/lib/kubelet/device-plugins")
    Path devicePluginDirectory();

    /** Socket of the kubelet's pod resources API, which lists the devices of each pod. */
    @WithDefault("/var/lib/kubelet/pod-resources/kubelet.sock")
    Path podResourcesSocket();

    /** Timeout of a call to the kubelet. */
    @WithDefault("10s")
    Duration kubeletTimeout();

    /** Delay after the first failed registration. Doubles after each further failure. */
    @WithDefault("1s")
    Duration registrationRetry();

    /** Maximum delay between two failed registrations. */
    @WithDefault("30s")
    Duration registrationRetryMax();

    /** Interval between two checks of the sockets, in addition to notifications of the file system. */
    @WithDefault("5s")
    Duration kubeletCheckInterval();

    /**
     * Maximum time that an accepted registration may stay without a ListAndWatch call. Afterwards the plugin registers
     * again.
     */
    @WithDefault("30s")
    Duration kubeletWatchTimeout();
}
