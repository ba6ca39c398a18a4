// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import java.util.Map;
import java.util.Optional;

/** Facts about the cluster for the decision about a pod. */
public interface InjectionFacts {
    /** Returns the annotations of the pod's namespace. */
    Map<String, String> namespaceAnnotations();

    /** Returns a profile of the pod's namespace. */
    Optional<SidecarProfileSpec> profile(String name);

    /** Returns the network of an IwarpNicPolicy. Empty if there is no such policy or if it has no network. */
    Optional<PodNetwork> network(String nicPolicy);

    /** Returns the identities that sidecars can have. */
    IdentityOffer identities();

    /** Returns whether the API server and all nodes have a feature. False while that is not known yet. */
    boolean has(KubernetesFeature feature);

    /** Returns whether the API server has a feature. False while that is not known yet. */
    boolean isInServer(KubernetesFeature feature);
}
