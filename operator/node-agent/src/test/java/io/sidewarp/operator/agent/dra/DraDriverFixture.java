// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.TestNamespaces;
import io.sidewarp.operator.testing.kubelet.ClaimException;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs a driver at a real API server and a stand-in for the kubelet, which speaks the kubelet's protocol. */
abstract class DraDriverFixture {
    static final Duration LIMIT = Duration.ofSeconds(60);
    static final String DRIVER = "rnic.sidewarp.io";
    static final PodName POD = new PodName("shop", "cart-0");
    static final RnicDevice FIRST = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0");
    static final RnicDevice SECOND = RnicDevice.hardware("0000:3b:01.1", "iwp1", "uverbs1");

    static final OwnerReference OWNER = new OwnerReferenceBuilder()
            .withApiVersion("v1")
            .withKind("Node")
            .withName("node")
            .withUid(UUID.randomUUID().toString())
            .build();

    private static final AtomicInteger NODES = new AtomicInteger();

    @TempDir
    Path directory;

    final String node = "dra-" + NODES.incrementAndGet();
    final PublishedDevices devices = new PublishedDevices();
    KubernetesClient client;
    String namespace;
    StandInKubelet kubelet;
    DraDriver driver;

    @BeforeEach
    void start(KubernetesClient server, TestNamespaces namespaces) throws IOException {
        client = server;
        DraDefinitions.install(client, true);
        namespace = namespaces.create();
        kubelet = new StandInKubelet(directory.resolve("kubelet")).start();
        driver = newDriver();
    }

    @AfterEach
    void stop() {
        driver.close();
        kubelet.close();
        slices().forEach(slice -> client.resource(slice).delete());
    }

    DraDriver newDriver() {
        return newDriver(devices);
    }

    DraDriver newDriver(DeviceInventory claimable) {
        return new DraDriver(new DraTestConfig(directory), node, client, claimable, devices);
    }

    void startWith(RnicDevice... all) {
        devices.publish(List.of(all));
        driver.offer(true, Optional.of(OWNER));
        driver.start();
        awaitRegistered();
    }

    void awaitRegistered() {
        await().atMost(LIMIT)
                .until(() -> driver.status().registered() && kubelet.claims().isRegistered(DRIVER));
    }

    ResourceClaim claim(String name, String... results) {
        return TestClaims.allocated(client, namespace, name, results);
    }

    List<ResourceSlice> slices() {
        return client.resources(ResourceSlice.class).list().getItems().stream()
                .filter(slice -> node.equals(slice.getSpec().getNodeName()))
                .toList();
    }

    List<String> published() {
        return slices().stream()
                .flatMap(slice -> slice.getSpec().getDevices().stream())
                .map(io.fabric8.kubernetes.api.model.resource.v1.Device::getName)
                .toList();
    }

    void assertRefused(ResourceClaim claim, String... parts) {
        assertThatThrownBy(() -> kubelet.claims().prepare(POD, claim, DRIVER))
                .isInstanceOf(ClaimException.class)
                .hasMessageContainingAll(parts);
    }

    Path cdiPath(ResourceClaim claim) {
        return directory
                .resolve("cdi")
                .resolve("sidewarp.io-rnic-" + claim.getMetadata().getUid() + ".json");
    }

    List<Path> cdiFiles() throws IOException {
        Path files = directory.resolve("cdi");
        if (!Files.exists(files)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(files)) {
            return all.toList();
        }
    }
}
