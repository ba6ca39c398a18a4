// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sidewarp.operator.agent.deviceplugin.DevicePlugin;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.testing.kubelet.PodName;
import org.junit.jupiter.api.Test;

/** Tests the agent's siw device as the fallback of a node. */
class NodeObserverSiwTest extends NodeObserverFixture {
    @Test
    void fallsBackToASiwDeviceOfItsOwn() throws Exception {
        RecordedHost host = host("virtio");

        NodeObservation look = looker(host, none())
                .look(spec("fallback: [KernelSiw, Software], siw: {interfaceName: eth0, devices: 3}"), NOW);

        assertThat(look.provider()).contains(ProviderKind.KERNEL_SIW);
        assertThat(look.devices())
                .hasSize(3)
                .allSatisfy(device -> assertThat(device.rdmaDevice())
                        .hasValueSatisfying(name -> assertThat(name).startsWith("sidewarp-")));
        assertThat(holding(look, REGISTERED)).isEqualTo("Ready KernelSiwOffered");
        assertThat(look.counts().kernelSiw()).isEqualTo(3);
        assertThat(look.counts().software()).isEqualTo(256);
    }

    @Test
    void fallsBackToSoftDevicesWhereTheKernelHasNoSiw() throws Exception {
        NodeObservation look = looker(host("virtio").withoutSiwModule(), none())
                .look(spec("fallback: [KernelSiw, Software], siw: {interfaceName: eth0}, software: {devices: 4}"), NOW);

        assertThat(look.provider()).contains(ProviderKind.SOFTWARE);
        assertThat(look.devices()).hasSize(4);
        assertThat(holding(look, REGISTERED)).isEqualTo("Ready SoftwareOffered");
        assertThat(look.state(REGISTERED).message())
                .startsWith("4 of 4 devices can be used; siw: the node's kernel has no siw");
    }

    @Test
    void fallsBackToSoftDevicesWhereTheSiwDeviceHasTooLongAName() throws Exception {
        RecordedHost host = host("virtio");
        host.createRdmaLink("siw", "x".repeat(60), "eth0");

        NodeObservation look =
                looker(host, none()).look(spec("fallback: [KernelSiw, Software], siw: {interfaceName: eth0}"), NOW);

        assertThat(holding(look, REGISTERED)).isEqualTo("Ready SoftwareOffered");
        assertThat(look.passedOver()).singleElement().asString().contains("x".repeat(60), "Rename it");
    }

    @Test
    void isDegradedWhenSiwIsTheOnlyFallbackAndCannotBe() throws Exception {
        NodeObservation look = looker(host("virtio").withoutSiwModule(), none())
                .look(spec("fallback: [KernelSiw], siw: {interfaceName: eth0}"), NOW);

        assertThat(look.devices()).isEmpty();
        assertThat(holding(look, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(look.failed()).singleElement().asString().contains("the node's kernel has no siw");
        assertThat(look.nodeState(REGISTERED)).isEqualTo(ProvisioningState.FAILED);
    }

    @Test
    void removesItsSiwDeviceWhenItIsNoLongerAskedFor() throws Exception {
        RecordedHost host = host("virtio");
        NodeObserver looker = looker(host, none());
        looker.look(spec("fallback: [KernelSiw], siw: {interfaceName: eth0}"), NOW);
        assertThat(host.rdmaLinks()).hasSize(1);

        looker.look(spec("fallback: [Software]"), NOW);

        assertThat(host.rdmaLinks()).isEmpty();
    }

    @Test
    void keepsItsSiwDeviceWhileAPodUsesIt() throws Exception {
        RecordedHost host = host("virtio");
        NodeObserver looker = looker(host, none());
        devices.publish(looker.look(spec("fallback: [KernelSiw], siw: {interfaceName: eth0, devices: 1}"), NOW)
                .devices());
        try (DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices)) {
            plugin.start();
            await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName("shop", "cart"), "sidewarp", RNIC_RESOURCE, 1);

            NodeObservation used = looker.look(spec("fallback: []"), NOW);
            assertThat(host.rdmaLinks()).hasSize(1);
            assertThat(holding(used, REGISTERED)).isEqualTo("Progressing WaitingForPods");
            assertThat(used.waiting()).containsExactly("the siw device on eth0 stays until no pod uses it");
            assertThat(used.isWaiting(REGISTERED)).isTrue();
            assertThat(used.nodeState(REGISTERED)).isEqualTo(ProvisioningState.WAITING);

            kubelet.release(new PodName("shop", "cart"));
            NodeObservation free = looker.look(spec("fallback: []"), NOW);
            assertThat(host.rdmaLinks()).isEmpty();
            assertThat(holding(free, REGISTERED)).isEqualTo("Ready NothingToOffer");
        }
    }

    @Test
    void removesItsSiwDeviceWhenItsLastPodHasEndedAlthoughTheKubeletListsThePod() throws Exception {
        RecordedHost host = host("virtio");
        NodeObserver looker = looker(host, none());
        devices.publish(looker.look(spec("fallback: [KernelSiw], siw: {interfaceName: eth0, devices: 1}"), NOW)
                .devices());
        try (DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices)) {
            plugin.start();
            await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName("shop", "job"), "sidewarp", RNIC_RESOURCE, 1);
            looker.look(spec("fallback: []"), NOW);
            assertThat(host.rdmaLinks()).hasSize(1);

            ended.add("shop/job");
            looker.look(spec("fallback: []"), NOW);

            assertThat(host.rdmaLinks()).isEmpty();
        }
    }

    @Test
    void keepsItsSiwDeviceWhileTheKubeletDoesNotTellWhoUsesIt() throws Exception {
        RecordedHost host = host("virtio");
        NodeObserver looker = looker(host, none());
        looker.look(spec("fallback: [KernelSiw], siw: {interfaceName: eth0}"), NOW);
        kubelet.stop();

        NodeObservation untold = looker.look(spec("fallback: []"), NOW);

        assertThat(host.rdmaLinks()).hasSize(1);
        assertThat(untold.waiting())
                .containsExactly("the siw device on eth0 stays while the kubelet does not tell who uses it");
    }

    @Test
    void waitsForNothingWhereItHasNoSiwDevice() throws Exception {
        kubelet.stop();

        NodeObservation look = looker(host("virtio-siw"), none()).look(spec("fallback: []"), NOW);

        assertThat(look.waiting()).isEmpty();
    }
}
