// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevicesInUseTest {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(20);

    @TempDir
    Path root;

    @Test
    void tellsWhichPodHasWhichDeviceAlsoAfterTheKubeletRestarted() throws Exception {
        PodName pod = new PodName("shop", "cart-0");
        PublishedDevices devices = new PublishedDevices();
        devices.publish(List.of(RnicDevice.soft(0), RnicDevice.soft(1)));
        try (StandInKubelet kubelet = new StandInKubelet(root).start();
                DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices);
                DevicesInUse inUse = new DevicesInUse(new TestConfig(kubelet))) {
            assertThat(inUse.users()).isEmpty();
            plugin.start();
            await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 2);

            String id = kubelet.allocate(pod, "sidewarp", RNIC_RESOURCE, 1)
                    .deviceIds()
                    .getFirst();
            Map<String, List<String>> expected = Map.of(id, List.of("shop/cart-0"));
            assertThat(inUse.users()).isEqualTo(expected);

            kubelet.restart();
            assertThat(inUse.users()).isEqualTo(expected);

            kubelet.release(pod);
            assertThat(inUse.users()).isEmpty();
        }
    }

    @Test
    void aDeviceOfAClaimIsUsedByThePodAndByThePreparedClaim() throws Exception {
        try (StandInKubelet kubelet = new StandInKubelet(root).start();
                DevicesInUse inUse = new DevicesInUse(
                        new TestConfig(kubelet),
                        () -> Map.of(
                                "0000:3b:01.0", List.of("ResourceClaim shop/held"),
                                "0000:3b:01.1", List.of("ResourceClaim shop/used")))) {
            kubelet.claims().hold(new PodName("shop", "cart-0"), "rnic.sidewarp.io", "0000-3b-01-1");
            kubelet.claims().hold(new PodName("shop", "cart-1"), "gpu.example.com", "0000-3b-01-2");

            assertThat(inUse.users())
                    .isEqualTo(Map.of(
                            "0000:3b:01.0", List.of("ResourceClaim shop/held"),
                            "0000:3b:01.1", List.of("shop/cart-0", "ResourceClaim shop/used")));
            assertThat(inUse.pluginUsers()).isEmpty();
        }
    }

    @Test
    void failsWhenTheKubeletDoesNotAnswer() {
        try (StandInKubelet kubelet = new StandInKubelet(root);
                DevicesInUse inUse = new DevicesInUse(new TestConfig(kubelet))) {
            assertThatThrownBy(inUse::users)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("sidewarp.agent.pod-resources-socket");
        }
    }
}
