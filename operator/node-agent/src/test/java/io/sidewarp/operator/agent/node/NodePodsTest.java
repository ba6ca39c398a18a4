// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicePlugin;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.api.v1alpha1.PodEviction;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@RealApiServer
class NodePodsTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String NODE = "here";
    private static final PciAddress FUNCTION = new PciAddress("0000:18:11.0");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // node | status | has it ended
                "here  | {phase: Succeeded} | true",
                "here  | {phase: Failed, containerStatuses: [{name: app, state: {terminated: {exitCode: 1}}}]} | true",
                "here  | {phase: Running} | false",
                "here  | {} | false",
                "here  | {phase: Failed, reason: Evicted, containerStatuses: [{name: app, state: {running: {}}}]} | false",
                "here  | {phase: Failed, initContainerStatuses: [{name: sidewarp, state: {running: {}}}]} | false",
                "there | {phase: Succeeded} | false",
            })
    void aPodOfThisNodeHasEndedWhenItsPhaseIsTerminalAndNoContainerRuns(
            String node, String status, boolean ended, KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        create(client, namespace, "job", node, status);

        assertThat(new NodePods(client, NODE, Duration.ZERO).hasEnded(namespace + "/job"))
                .isEqualTo(ended);
    }

    @Test
    void aPodThatTheApiServerDoesNotKnowHasNotEnded(KubernetesClient client, TestNamespaces namespaces) {
        NodePods pods = new NodePods(client, NODE, Duration.ZERO);

        assertThat(pods.hasEnded(namespaces.create() + "/unknown")).isFalse();
        assertThat(pods.hasEnded("unknown pods (the kubelet does not answer)")).isFalse();
    }

    @Test
    void aClaimIsNoPodAndDoesNotHideThatPodsHaveEnded(KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        create(client, namespace, "job", NODE, "{phase: Succeeded}");
        NodePods pods = new NodePods(client, NODE, Duration.ofHours(1));

        assertThat(pods.hasEnded("ResourceClaim " + namespace + "/job")).isFalse();

        assertThat(pods.hasEnded(namespace + "/job")).isTrue();
    }

    @Test
    void anEvictionNamesThePodOfThisNodeByItsUid(KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        create(client, namespace, "here", NODE, "{phase: Running}");
        create(client, namespace, "there", "there", "{phase: Running}");
        String uid = client.pods()
                .inNamespace(namespace)
                .withName("here")
                .get()
                .getMetadata()
                .getUid();

        assertThat(new NodePods(client, NODE, Duration.ZERO)
                        .evictions(Stream.of("here", "there", "gone")
                                .map(name -> new NicDrain.Request(namespace, name, FUNCTION.value()))
                                .toList()))
                .containsExactly(new PodEviction(namespace, "here", uid, FUNCTION.value()));
    }

    @Test
    void aPodHasNotEndedWhileTheApiServerIsAwayAndIsAskedAboutOnce() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        try (ServerSocket broken = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
                KubernetesClient client = new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder()
                                .withMasterUrl("http://127.0.0.1:" + broken.getLocalPort())
                                .withRequestRetryBackoffLimit(0)
                                .build())
                        .build()) {
            Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        broken.accept().close();
                        connections.incrementAndGet();
                    }
                } catch (IOException e) {
                    // The test has ended.
                    return;
                }
            });
            NodePods pods = new NodePods(client, NODE, Duration.ofHours(1));

            assertThat(pods.hasEnded("shop/first")).isFalse();
            await().atMost(LIMIT).until(() -> connections.get() > 0);
            int asked = connections.get();
            assertThat(pods.hasEnded("shop/first")).isFalse();
            assertThat(pods.hasEnded("shop/second")).isFalse();

            assertThat(connections).hasValue(asked);
        }
    }

    @Test
    void aFunctionIsFreeWhenItsPodHasEndedAlthoughTheKubeletListsThePod(
            KubernetesClient client, TestNamespaces namespaces) throws Exception {
        String namespace = namespaces.create();
        create(client, namespace, "job", NODE, "{phase: Running}");
        PublishedDevices devices = new PublishedDevices();
        devices.publish(List.of(RnicDevice.hardware(FUNCTION.value(), "iwp1", "uverbs1")));
        try (StandInKubelet kubelet = new StandInKubelet(directory).start();
                DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices);
                DevicesInUse inUse = new DevicesInUse(new TestConfig(kubelet))) {
            plugin.start();
            await().atMost(LIMIT).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName(namespace, "job"), "sidewarp", RNIC_RESOURCE, 1);
            FunctionsInUse functions =
                    new FunctionsInUse(inUse, new NodePods(client, NODE, Duration.ZERO)::hasEnded, devices);
            assertThat(functions.users(FUNCTION)).containsExactly(namespace + "/job");

            setStatus(client, namespace, "job", "{phase: Succeeded}");

            assertThat(inUse.users()).containsKey(FUNCTION.value());
            assertThat(functions.users(FUNCTION)).isEmpty();
        }
    }

    private static void create(KubernetesClient client, String namespace, String name, String node, String status) {
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: " + namespace
                                + "}, spec: {nodeName: " + node + ", containers: [{name: app, image: app}]}}",
                        Pod.class))
                .create();
        setStatus(client, namespace, name, status);
    }

    private static void setStatus(KubernetesClient client, String namespace, String name, String status) {
        client.pods().inNamespace(namespace).withName(name).editStatus(pod -> {
            pod.setStatus(Serialization.unmarshal("---\n" + status, PodStatus.class));
            return pod;
        });
    }
}
