// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.nio.file.Path;
import java.time.Duration;

/** Settings for a stand-in kubelet, with short waits. */
public record TestConfig(Path devicePluginDirectory, Path podResourcesSocket, Duration kubeletTimeout)
        implements DevicePluginConfig {

    public TestConfig(StandInKubelet kubelet) {
        this(kubelet.devicePluginDirectory(), kubelet.podResourcesSocket(), Duration.ofSeconds(20));
    }

    TestConfig withKubeletTimeout(Duration timeout) {
        return new TestConfig(devicePluginDirectory, podResourcesSocket, timeout);
    }

    @Override
    public Duration registrationRetry() {
        return Duration.ofMillis(10);
    }

    @Override
    public Duration registrationRetryMax() {
        return Duration.ofMillis(100);
    }

    @Override
    public Duration kubeletCheckInterval() {
        return Duration.ofMillis(50);
    }

    @Override
    public Duration kubeletWatchTimeout() {
        return Duration.ofMillis(300);
    }
}
