// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.ClaimObjects;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the features of a cluster that is upgraded. */
@RealApiServer
class ClusterFeaturesTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final KubernetesClient client;
    private final ClusterFeatures features;

    ClusterFeaturesTest(KubernetesClient client) {
        this.client = client;
        features = new ClusterFeatures(client);
    }

    @BeforeEach
    void start() {
        DraDefinitions.install(client, true);
    }

    @AfterEach
    void stop() {
        features.close();
        client.nodes().delete();
        client.resources(DeviceClass.class).withName("rnic.sidewarp.io").delete();
    }

    @Test
    void oneOldKubeletTakesClaimsFromTheWholeClusterUntilItIsUpgraded() throws InterruptedException {
        ClaimObjects.createDeviceClass(client);
        ClaimObjects.createNode(client, "new", "v1.34.1");
        features.start();
        features.await();
        assertThat(features.has(KubernetesFeature.RESOURCE_CLAIMS)).isTrue();
        assertThat(features.isInServer(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS))
                .isTrue();
        assertThat(features.has(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS)).isFalse();
        AtomicInteger changes = new AtomicInteger();
        features.onChange(changes::incrementAndGet);
        features.tell();

        Node old = ClaimObjects.createNode(client, "old", "v1.33.5");
        await().atMost(LIMIT).until(() -> !features.has(KubernetesFeature.RESOURCE_CLAIMS));
        assertThat(features.isInServer(KubernetesFeature.RESOURCE_CLAIMS)).isTrue();
        await().atMost(LIMIT).until(() -> changes.get() == 1);

        old.getStatus().getNodeInfo().setKubeletVersion("v1.34.1");
        client.resource(old).updateStatus();
        await().atMost(LIMIT).until(() -> features.has(KubernetesFeature.RESOURCE_CLAIMS));
        await().atMost(LIMIT).until(() -> changes.get() == 2);
    }

    @Test
    void deviceClassThatComesLaterIsFound() throws InterruptedException {
        ClaimObjects.createNode(client, "new", "v1.36.0");
        features.start();
        features.await();
        assertThat(features.has(KubernetesFeature.RESOURCE_CLAIMS)).isFalse();

        ClaimObjects.createDeviceClass(client);

        await().atMost(LIMIT).until(() -> features.has(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS));
    }

    @Test
    void nativeSidecarsFollowTheVersionOfTheServer() throws InterruptedException {
        features.start();
        features.await();

        assertThat(features.isInServer(KubernetesFeature.NATIVE_SIDECARS))
                .isEqualTo(KubernetesFeature.NATIVE_SIDECARS.isIn(client.getKubernetesVersion()));
    }
}
