// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the status of profiles. */
@RealApiServer
class ProfileReconcilerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final KubernetesClient client;
    private final Operator operator;
    private final String namespace;
    private final ClusterFeatures features;

    ProfileReconcilerTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        features = new ClusterFeatures(client);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        operator.register(new ProfileReconciler(new EventRecorder(client, "test"), features));
    }

    @BeforeEach
    void start() throws InterruptedException {
        OwnDefinitions.install(client);
        features.start();
        features.await();
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.stop();
        features.close();
        client.resources(SidecarProfile.class).inNamespace(namespace).delete();
        client.resources(IwarpNicPolicy.class).delete();
    }

    @Test
    void aProfileWhosePolicyHasNoNetworkIsReadyWhenItHasOneAndNoLonger() {
        create("{nicPolicy: fast, rnics: 1}");
        awaitCondition(StatusCondition.PROGRESSING, "NoNetwork", "the IwarpNicPolicy fast, which has no network (yet)");

        IwarpNicPolicy policy =
                client.resource(Yaml.parse("""
                                {apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: fast},
                                 spec: {nicSelector: {drivers: [none]}}}
                                """, IwarpNicPolicy.class)).create();
        policy.setStatus(new IwarpNicPolicyStatus(
                null, null, null, null, null, "default/sidewarp-fast", "openshift.io/fast", List.of()));
        client.resource(policy).updateStatus();
        awaitCondition(StatusCondition.READY, "Valid", "pods can use the profile");

        client.resource(policy).delete();
        awaitCondition(StatusCondition.PROGRESSING, "NoNetwork", "remove nicPolicy");
    }

    @Test
    void aProfileOfAPolicyWithoutDevicesNeedsNoNetwork() {
        create("{nicPolicy: fast, rnics: 0}");

        awaitCondition(StatusCondition.READY, "Valid", "pods can use the profile");
    }

    @Test
    void aProfileForNativeSidecarsIsReadyWhereThereAreSuch() {
        create("{placement: Native}");

        if (KubernetesFeature.NATIVE_SIDECARS.isIn(client.getKubernetesVersion())) {
            awaitCondition(StatusCondition.READY, "Valid", "pods can use the profile");
        } else {
            awaitCondition(StatusCondition.DEGRADED, "NoNativeSidecars", "set its placement to Auto or Container");
        }
    }

    private void create(String spec) {
        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: profile,"
                                + " namespace: " + namespace + "}, spec: " + spec + "}",
                        SidecarProfile.class))
                .create();
    }

    private void awaitCondition(String holding, String reason, String message) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.resources(SidecarProfile.class)
                                .inNamespace(namespace)
                                .withName("profile")
                                .get()
                                .getStatus())
                        .isNotNull()
                        .satisfies(status -> assertThat(status.conditions())
                                .filteredOn(StatusCondition::holds)
                                .singleElement()
                                .satisfies(condition -> {
                                    assertThat(condition.type()).isEqualTo(holding);
                                    assertThat(condition.reason()).isEqualTo(reason);
                                    assertThat(condition.message()).contains(message);
                                })));
    }
}
