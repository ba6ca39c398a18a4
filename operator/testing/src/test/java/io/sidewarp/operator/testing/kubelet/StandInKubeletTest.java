// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.UnixServer;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.AllocateRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.AllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DevicePluginGrpc;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Empty;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ListAndWatchResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegisterRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegistrationGrpc;
import io.sidewarp.operator.testing.RealApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the view of a plugin on the stand-in kubelet, and a kubelet with a plugin that has only two devices. */
class StandInKubeletTest {

    private static final String RESOURCE = "example.com/thing";
    private static final String ENDPOINT = "thing.sock";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final PodName POD = new PodName("default", "pod");

    @TempDir
    Path root;

    private UnixTransport transport;
    private StandInKubelet kubelet;
    private UnixServer plugin;

    @BeforeEach
    void start() throws IOException {
        transport = new UnixTransport("plugin");
        kubelet = new StandInKubelet(root).start();
        plugin = serveTwoDevices();
    }

    @AfterEach
    void stop() {
        plugin.close();
        kubelet.close();
        transport.close();
    }

    @Test
    void countsDevicesOfALostPluginToTheCapacityOnly() {
        register(DevicePluginApi.VERSION, RESOURCE);
        awaitAllocatable(2);

        plugin.close();

        awaitAllocatable(0);
        assertThat(kubelet.capacity(RESOURCE)).isEqualTo(2);
    }

    @Test
    void givesEachDeviceToOneContainer() throws Exception {
        register(DevicePluginApi.VERSION, RESOURCE);
        awaitAllocatable(2);
        ContainerAllocation given = kubelet.allocate(POD, "one", RESOURCE, 1);
        assertThat(given.response().getEnvsMap())
                .containsEntry("GIVEN", given.deviceIds().getFirst());
        assertThatThrownBy(() -> kubelet.allocate(POD, "two", RESOURCE, 2))
                .isInstanceOf(AllocationException.class)
                .hasMessageContaining("Requested: 2, Available: 1");

        kubelet.release(POD);

        assertThat(kubelet.allocate(POD, "two", RESOURCE, 2).deviceIds()).containsExactly("thing-0", "thing-1");
    }

    @Test
    void removesSocketsWhenItRestartsAndForgetsDevicesButNotAllocations() throws Exception {
        register(DevicePluginApi.VERSION, RESOURCE);
        awaitAllocatable(2);
        ContainerAllocation given = kubelet.allocate(POD, "one", RESOURCE, 1);

        kubelet.restart();

        assertThat(kubelet.devicePluginDirectory().resolve(ENDPOINT)).doesNotExist();
        assertThat(kubelet.capacity(RESOURCE)).isZero();
        assertThat(kubelet.allocate(POD, "one", RESOURCE, 1)).isEqualTo(given);
        assertThat(Files.exists(kubelet.devicePluginDirectory().resolve("kubelet_internal_checkpoint")))
                .isTrue();
    }

    @Test
    void refusesAnotherVersionOfTheApiAndResourcesWithoutADomain() {
        assertThatThrownBy(() -> register("v1alpha", RESOURCE))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("v1beta1");
        assertThatThrownBy(() -> register(DevicePluginApi.VERSION, "thing"))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("invalid");
    }

    @Nested
    @RealApiServer
    class OnANode {

        @Test
        void writesCapacityAndAllocatableIntoItsStatus(KubernetesClient client) {
            Node node = new NodeBuilder()
                    .withNewMetadata()
                    .withName("stand-in-kubelet")
                    .endMetadata()
                    .build();
            client.resource(node).create();
            try {
                kubelet.reportTo(client, "stand-in-kubelet");
                register(DevicePluginApi.VERSION, RESOURCE);
                awaitStatus(client, "2", "2");

                plugin.close();
                awaitStatus(client, "2", "0");
            } finally {
                client.resource(node).delete();
            }
        }

        private void awaitStatus(KubernetesClient client, String capacity, String allocatable) {
            await().atMost(LIMIT).untilAsserted(() -> {
                Node node = client.nodes().withName("stand-in-kubelet").get();
                assertThat(node.getStatus().getCapacity()).containsEntry(RESOURCE, new Quantity(capacity));
                assertThat(node.getStatus().getAllocatable()).containsEntry(RESOURCE, new Quantity(allocatable));
            });
        }
    }

    private void awaitAllocatable(int count) {
        await().atMost(LIMIT).until(() -> kubelet.allocatable(RESOURCE) == count);
    }

    private void register(String version, String resource) {
        ManagedChannel channel =
                transport.channel(kubelet.devicePluginDirectory().resolve(DevicePluginApi.KUBELET_SOCKET));
        try {
            Empty answer = RegistrationGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .register(RegisterRequest.newBuilder()
                            .setVersion(version)
                            .setResourceName(resource)
                            .setEndpoint(ENDPOINT)
                            .build());
            assertThat(answer).isEqualTo(Empty.getDefaultInstance());
        } finally {
            channel.shutdownNow();
        }
    }

    private UnixServer serveTwoDevices() throws IOException {
        return UnixServer.start(
                transport,
                kubelet.devicePluginDirectory().resolve(ENDPOINT),
                List.of(new DevicePluginGrpc.DevicePluginImplBase() {
                    @Override
                    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> response) {
                        response.onNext(ListAndWatchResponse.newBuilder()
                                .addDevices(healthy("thing-0"))
                                .addDevices(healthy("thing-1"))
                                .build());
                    }

                    @Override
                    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> response) {
                        List<String> ids = request.getContainerRequests(0).getDevicesIdsList();
                        response.onNext(AllocateResponse.newBuilder()
                                .addContainerResponses(
                                        ContainerAllocateResponse.newBuilder().putEnvs("GIVEN", String.join(",", ids)))
                                .build());
                        response.onCompleted();
                    }
                }));
    }

    private static Device healthy(String id) {
        return Device.newBuilder().setID(id).setHealth(DevicePluginApi.HEALTHY).build();
    }
}
