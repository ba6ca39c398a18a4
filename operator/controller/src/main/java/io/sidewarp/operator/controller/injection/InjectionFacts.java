// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.Optional;

/** Facts about the cluster for the decision about a pod. */
public interface InjectionFacts {
    /** Returns a profile of the pod's namespace. */
    Optional<SidecarProfileSpec> profile(String name);

    /** Returns the network of an IwarpNicPolicy. Empty if there is no such policy or if it has no network. */
    Optional<PodNetwork> network(String nicPolicy);

    /**
     * Returns whether all nodes that could run a sidecar support native sidecars. False while the nodes are not known
     * yet.
     */
    boolean nodesHaveNativeSidecars();
}
