// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import java.util.List;
import java.util.Objects;

/** The definitions of custom resources that the chart would install. */
public final class OwnDefinitions {
    private static final List<Class<? extends CustomResource<?, ?>>> TYPES =
            List.of(IwarpNicPolicy.class, IwarpNode.class, SidecarProfile.class);

    private OwnDefinitions() {}

    /** Installs all of them, unless they are there. */
    public static void install(KubernetesClient client) {
        for (Class<? extends CustomResource<?, ?>> type : TYPES) {
            CustomResourceDefinitions.install(
                    client,
                    Objects.requireNonNull(OwnDefinitions.class.getResource(
                            "/META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml")));
        }
    }
}
