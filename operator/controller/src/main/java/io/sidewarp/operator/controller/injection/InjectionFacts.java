// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.Optional;

/** What the decision about a pod needs to know of the cluster. */
public interface InjectionFacts {
    /** A profile of the pod's namespace. */
    Optional<SidecarProfileSpec> profile(String name);

    /** The network of an IwarpNicPolicy; empty where there is no such policy or it has no network. */
    Optional<PodNetwork> network(String nicPolicy);

    /** Whether all nodes have native sidecars that could run one; not while they are not known yet. */
    boolean nodesHaveNativeSidecars();
}
