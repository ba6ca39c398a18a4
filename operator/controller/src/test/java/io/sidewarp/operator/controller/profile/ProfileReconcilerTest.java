// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSubRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.ClaimObjects;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import io.sidewarp.operator.testing.CertificateAuthority;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
    private volatile IdentityOffer identities = IdentityOffer.NONE;

    ProfileReconcilerTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        features = new ClusterFeatures(client);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        operator.register(new ProfileReconciler(new EventRecorder(client, "test"), features, () -> identities));
    }

    @BeforeEach
    void start() throws InterruptedException {
        OwnDefinitions.install(client);
        DraDefinitions.install(client, true);
        ClaimObjects.createDeviceClass(client);
        features.start();
        features.await();
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.stop();
        features.close();
        client.resources(DeviceClass.class).withName("rnic.sidewarp.io").delete();
        client.resources(ResourceClaimTemplate.class).inNamespace(namespace).delete();
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
        awaitCondition(
                StatusCondition.READY, "DevicePlugin", "Multus needs that for the network of the IwarpNicPolicy fast");
        assertThat(templates().list().getItems()).isEmpty();

        client.resource(policy).delete();
        awaitCondition(StatusCondition.PROGRESSING, "NoNetwork", "remove nicPolicy");
    }

    @Test
    void aProfileWithPeersIsDegradedWithoutASourceOfIdentities() {
        create("{peers: [{namespace: shop}]}");

        awaitCondition(
                StatusCondition.DEGRADED,
                "Invalid",
                "neither identity.source of the profile nor identity.source of the chart's values is set");
    }

    @Test
    void aProfileWithPeersIsReadyWhenTheControllerHasItsCa() {
        Optional<String> issuer = Optional.of("https://sidewarp-identity:9444");
        identities = new IdentityOffer(Optional.of(IdentitySource.BUILTIN), issuer, Optional.empty());
        create("{peers: [{namespace: shop}]}");
        awaitCondition(StatusCondition.PROGRESSING, "NoCertificateAuthority", "the controller has no CA yet");

        String bundle = CertificateAuthority.create("identity").certificatePem();
        identities = new IdentityOffer(Optional.of(IdentitySource.BUILTIN), issuer, Optional.of(bundle));
        awaitCondition(StatusCondition.READY, "Valid", "pods can use the profile");
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

    @Test
    void theTemplateOfClaimsFollowsTheProfile() {
        SidecarProfile profile = create("{rnics: 2}");
        awaitTemplate(2);
        assertThat(template().get().getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid())
                        .isEqualTo(profile.getMetadata().getUid()));
        awaitCondition(StatusCondition.READY, "Valid", "pods can use the profile");

        setRnics(3);
        awaitTemplate(3);

        // Somebody else deletes the template.
        template().delete();
        awaitTemplate(3);

        setRnics(0);
        await().atMost(LIMIT).untilAsserted(() -> assertThat(template().get()).isNull());
    }

    @Test
    void theTemplateAsksForHardwareThenForSiwThenForSoftware() {
        create("{rnics: 1}");
        awaitTemplate(1);

        assertThat(alternatives())
                .extracting(DeviceSubRequest::getName)
                .containsExactly("hardware", "kernel-siw", "software");
        assertThat(alternatives())
                .allSatisfy(alternative -> assertThat(alternative.getSelectors())
                        .singleElement()
                        .satisfies(selector -> assertThat(selector.getCel().getExpression())
                                .isEqualTo("device.attributes[\"rnic.sidewarp.io\"].provider == \""
                                        + alternative.getName() + "\"")));
    }

    @Test
    void profileWhoseTemplateIsRefusedSaysWhy() {
        // With its prefix, the name of the template is longer than names may be.
        String name = "p".repeat(250);
        create(name, "{rnics: 1}");

        awaitCondition(
                name,
                StatusCondition.PROGRESSING,
                "ClaimTemplateRefused",
                "pods of the profile wait for the ResourceClaimTemplate sidewarp-" + name);
        assertThat(templates().list().getItems()).isEmpty();
    }

    private void setRnics(int rnics) {
        client.resources(SidecarProfile.class)
                .inNamespace(namespace)
                .withName("profile")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"rnics\": " + rnics + "}}");
    }

    private void awaitTemplate(long count) {
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(template().get()).isNotNull();
            assertThat(alternatives())
                    .hasSize(3)
                    .extracting(DeviceSubRequest::getCount)
                    .containsOnly(count);
        });
    }

    private List<DeviceSubRequest> alternatives() {
        return template()
                .get()
                .getSpec()
                .getSpec()
                .getDevices()
                .getRequests()
                .getFirst()
                .getFirstAvailable();
    }

    private Resource<ResourceClaimTemplate> template() {
        return templates().withName("sidewarp-profile");
    }

    private NonNamespaceOperation<
                    ResourceClaimTemplate,
                    KubernetesResourceList<ResourceClaimTemplate>,
                    Resource<ResourceClaimTemplate>>
            templates() {
        return client.resources(ResourceClaimTemplate.class).inNamespace(namespace);
    }

    private SidecarProfile create(String spec) {
        return create("profile", spec);
    }

    private SidecarProfile create(String name, String spec) {
        return client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: " + name
                                + ", namespace: " + namespace + "}, spec: " + spec + "}",
                        SidecarProfile.class))
                .create();
    }

    private void awaitCondition(String holding, String reason, String message) {
        awaitCondition("profile", holding, reason, message);
    }

    private void awaitCondition(String profile, String holding, String reason, String message) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.resources(SidecarProfile.class)
                                .inNamespace(namespace)
                                .withName(profile)
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
