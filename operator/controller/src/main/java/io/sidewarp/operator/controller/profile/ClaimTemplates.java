// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.profile;

import io.fabric8.kubernetes.api.model.resource.v1.DeviceSubRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSubRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.injection.PodClaim;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Keeps one ResourceClaimTemplate for each profile with devices. */
final class ClaimTemplates {
    /** Name of the request in each claim. */
    static final String REQUEST = "rnics";

    /** Kinds of devices by the attribute {@code provider}, in order of preference. */
    private static final List<String> PROVIDERS = List.of("hardware", "kernel-siw", "software");

    private ClaimTemplates() {}

    /**
     * Creates, replaces or deletes the template of a profile. A template with other contents is deleted first, because
     * the contents of a template are immutable. Pods that need the template meanwhile wait for it.
     *
     * @param present template that the profile owns
     * @param rnics number of devices of a claim; 0 for no template
     */
    static void apply(
            KubernetesClient client, SidecarProfile profile, Optional<ResourceClaimTemplate> present, int rnics) {
        Optional<ResourceClaimTemplate> desired = rnics == 0 ? Optional.empty() : Optional.of(template(profile, rnics));
        if (present.isPresent()
                && desired.filter(wanted -> isLike(present.get(), wanted)).isPresent()) {
            return;
        }
        // The version protects a newer template that the cache does not contain yet.
        present.ifPresent(former -> client.resource(former)
                .lockResourceVersion(former.getMetadata().getResourceVersion())
                .delete());
        desired.ifPresent(wanted -> client.resource(wanted)
                .fieldManager(OperatorConfig.MANAGER)
                .forceConflicts()
                .serverSideApply());
    }

    private static boolean isLike(ResourceClaimTemplate present, ResourceClaimTemplate wanted) {
        return present.getMetadata().getName().equals(wanted.getMetadata().getName())
                && present.getSpec().getSpec().equals(wanted.getSpec().getSpec());
    }

    private static ResourceClaimTemplate template(SidecarProfile profile, int rnics) {
        ResourceClaimTemplate template = new ResourceClaimTemplateBuilder()
                .withNewMetadata()
                .withNamespace(profile.getMetadata().getNamespace())
                .withName(PodClaim.templateOf(profile.getMetadata().getName()))
                .addToLabels(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                .endMetadata()
                .withNewSpec()
                .withNewSpec()
                .withNewDevices()
                .addNewRequest()
                .withName(REQUEST)
                .withFirstAvailable(alternatives(rnics).toList())
                .endRequest()
                .endDevices()
                .endSpec()
                .endSpec()
                .build();
        template.addOwnerReference(profile);
        return template;
    }

    private static Stream<DeviceSubRequest> alternatives(int rnics) {
        return PROVIDERS.stream()
                .map(provider -> new DeviceSubRequestBuilder()
                        .withName(provider)
                        .withDeviceClassName(SidewarpApi.RNIC_DRIVER)
                        .withAllocationMode("ExactCount")
                        .withCount((long) rnics)
                        .addNewSelector()
                        .withNewCel()
                        .withExpression("device.attributes[\"" + SidewarpApi.RNIC_DRIVER + "\"].provider == \""
                                + provider + "\"")
                        .endCel()
                        .endSelector()
                        .build());
    }
}
