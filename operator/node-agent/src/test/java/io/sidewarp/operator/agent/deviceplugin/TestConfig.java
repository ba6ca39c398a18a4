// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/** Settings for a stand-in kubelet, which gets enough time for its work. All other waits are short. */
public record TestConfig(
        Path devicePluginDirectory, Path podResourcesSocket, Duration kubeletTimeout, Supplier<Duration> watchTimeout)
        implements DevicePluginConfig {

    private static final Duration LONG = Duration.ofSeconds(20);

    public TestConfig(StandInKubelet kubelet) {
        this(kubelet.devicePluginDirectory(), kubelet.podResourcesSocket(), LONG, () -> LONG);
    }

    TestConfig withKubeletTimeout(Duration timeout) {
        return new TestConfig(devicePluginDirectory, podResourcesSocket, timeout, watchTimeout);
    }

    /** @param timeout is asked each time */
    TestConfig withKubeletWatchTimeout(Supplier<Duration> timeout) {
        return new TestConfig(devicePluginDirectory, podResourcesSocket, kubeletTimeout, timeout);
    }

    @Override
    public Duration kubeletWatchTimeout() {
        return watchTimeout.get();
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
}
