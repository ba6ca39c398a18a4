// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.TestNamespaces;
import java.util.ArrayList;
import java.util.List;

/** Puts samples into an API server that has the generated definitions, and removes them again. */
final class SampleStore {

    private final KubernetesClient client;
    private final String namespace;
    private final List<GenericKubernetesResource> created = new ArrayList<>();

    SampleStore(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        this.namespace = namespaces.create();
        Sample.TYPES.forEach(type -> CustomResourceDefinitions.install(client, Sample.definition(type)));
    }

    /** Creates a resource as a user does, and then writes its status, if it has one, as a program does. */
    GenericKubernetesResource store(Sample sample) {
        GenericKubernetesResource input = sample.input();
        Object status = input.getAdditionalProperties().remove("status");
        if (sample.type() == SidecarProfile.class) {
            input.getMetadata().setNamespace(namespace);
        }
        GenericKubernetesResource stored = client.resource(input).create();
        created.add(stored);
        if (status == null) {
            return stored;
        }
        stored.setAdditionalProperty("status", status);
        return client.resource(stored).updateStatus();
    }

    /** Deletes what was stored. */
    void clear() {
        created.forEach(resource -> client.resource(resource).delete());
        created.clear();
    }
}
