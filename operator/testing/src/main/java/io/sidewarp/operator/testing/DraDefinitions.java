// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;

/**
 * The resources of Dynamic Resource Allocation ({@code resource.k8s.io/v1}) as definitions, for API servers before
 * Kubernetes 1.34. These servers accept the objects, but allocate nothing, and have no field selectors for the objects.
 * Newer servers keep their own resources.
 */
public final class DraDefinitions {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final int FIRST_MINOR = 34;

    /** Schema that keeps all fields. */
    private static final String ANY = "{type: object, x-kubernetes-preserve-unknown-fields: true}";

    /** Schema of a slice's specification; drops fields of devices that are not listed, as a server without the feature. */
    private static final String SLICE = """
        {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {devices: {type: array, items: {
        type: object, properties: {name: {type: string}, attributes: {type: object,
        x-kubernetes-preserve-unknown-fields: true}, capacity: {type: object, additionalProperties: {type: object,
        properties: {value: {x-kubernetes-int-or-string: true}%s}}}%s}}}}}\
        """;

    private DraDefinitions() {}

    /** Returns whether a server has the resources by itself. */
    public static boolean isBuiltIn(KubernetesClient client) {
        return KubernetesVersion.of(client.getKubernetesVersion()).isAtLeast(1, FIRST_MINOR);
    }

    /**
     * Creates or updates the definitions, and waits until the resources can be used. Does nothing on servers that have
     * the resources by themselves.
     *
     * @param consumableCapacity whether the definitions keep the fields of devices with several allocations
     */
    public static void install(KubernetesClient client, boolean consumableCapacity) {
        if (isBuiltIn(client)) {
            return;
        }
        String slice = SLICE.replace('\n', ' ')
                .formatted(
                        consumableCapacity ? ", requestPolicy: " + ANY : "",
                        consumableCapacity ? ", allowMultipleAllocations: {type: boolean}" : "");
        install(client, "deviceclasses", "DeviceClass", "Cluster", ANY, false);
        install(client, "resourceclaims", "ResourceClaim", "Namespaced", ANY, true);
        install(client, "resourceclaimtemplates", "ResourceClaimTemplate", "Namespaced", ANY, false);
        install(client, "resourceslices", "ResourceSlice", "Cluster", slice, false);
        awaitSchema(client, consumableCapacity);
    }

    private static void install(
            KubernetesClient client, String plural, String kind, String scope, String spec, boolean status) {
        client.resource(Serialization.unmarshal(
                        definition(plural, kind, scope, spec, status ? "subresources: {status: {}}" : ""),
                        CustomResourceDefinition.class))
                .createOr(NonDeletingOperation::update);
        String path = "/apis/resource.k8s.io/v1/" + plural;
        await(path).atMost(LIMIT).ignoreExceptions().until(() -> client.raw(path) != null);
    }

    private static String definition(String plural, String kind, String scope, String spec, String subresources) {
        return """
            ---
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata:
              name: %1$s.resource.k8s.io
              annotations:
                api-approved.kubernetes.io: https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4381-dra-structured-parameters
            spec:
              group: resource.k8s.io
              scope: %3$s
              names: {plural: %1$s, kind: %2$s}
              versions:
              - name: v1
                served: true
                storage: true
                %5$s
                schema:
                  openAPIV3Schema:
                    type: object
                    properties:
                      spec: %4$s
                      status: {type: object, x-kubernetes-preserve-unknown-fields: true}
            """.formatted(plural, kind, scope, spec, subresources);
    }

    /** Waits until the server applies the schema: the old one may serve for a moment after an update. */
    private static void awaitSchema(KubernetesClient client, boolean consumableCapacity) {
        ResourceSlice probe = new ResourceSliceBuilder()
                .withNewMetadata()
                .withGenerateName("probe-")
                .endMetadata()
                .withNewSpec()
                .addNewDevice()
                .withName("probe")
                .withAllowMultipleAllocations(true)
                .endDevice()
                .endSpec()
                .build();
        await("the schema of ResourceSlice").atMost(LIMIT).ignoreExceptions().until(() -> {
            Device kept = client.resource(probe)
                    .dryRun()
                    .create()
                    .getSpec()
                    .getDevices()
                    .getFirst();
            return consumableCapacity == (kept.getAllowMultipleAllocations() != null);
        });
    }
}
