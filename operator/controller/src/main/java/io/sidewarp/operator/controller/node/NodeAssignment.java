// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicySpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.SiwSpec;
import io.sidewarp.operator.api.v1alpha1.SoftwareSpec;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Assigns policies to a node. Depends on nothing but its arguments. */
final class NodeAssignment {
    /** Empty assignment. The node agent reverts everything that it changed. */
    static final IwarpNodeSpec NOTHING =
            new IwarpNodeSpec(List.of(), List.of(), new SiwSpec(null, null), new SoftwareSpec(null), null);

    private NodeAssignment() {}

    /**
     * Returns the desired state of a node. Policies that are being deleted no longer count, so that the node restores
     * what they changed.
     *
     * @param labels labels of the node
     * @param policies all policies
     * @param unselected settings for a node that no policy selects
     * @param sriovInstalled whether the cluster has the SR-IOV network operator
     * @param claims whether nodes offer their devices to ResourceClaims
     */
    static IwarpNodeSpec of(
            Map<String, String> labels,
            Collection<IwarpNicPolicy> policies,
            OperatorConfig.Unselected unselected,
            boolean sriovInstalled,
            boolean claims) {
        Boolean resourceClaims = claims ? Boolean.TRUE : null;
        List<IwarpNicPolicy> selecting = policies.stream()
                .filter(policy -> !policy.isMarkedForDeletion() && isSelected(labels, policy))
                .sorted(IwarpNicPolicy.BY_RANK)
                .toList();
        List<NodePolicy> parts = selecting.stream()
                .map(policy -> part(policy, sriovInstalled, claims))
                .toList();
        if (selecting.isEmpty()) {
            return new IwarpNodeSpec(
                    parts,
                    unselected.fallback().orElseGet(List::of),
                    new SiwSpec(null, unselected.siwDevices()),
                    new SoftwareSpec(unselected.softwareDevices()),
                    resourceClaims);
        }
        IwarpNicPolicySpec first = selecting.getFirst().getSpec();
        return new IwarpNodeSpec(parts, first.fallback(), first.siw(), first.software(), resourceClaims);
    }

    /** Returns whether a policy selects a node with these labels. */
    static boolean isSelected(Map<String, String> labels, IwarpNicPolicy policy) {
        return policy.getSpec() != null
                && NodeStates.matches(labels, policy.getSpec().nodeSelector());
    }

    private static NodePolicy part(IwarpNicPolicy policy, boolean sriovInstalled, boolean claims) {
        IwarpNicPolicySpec spec = policy.getSpec();
        return new NodePolicy(
                policy.getMetadata().getName(),
                policy.getMetadata().getGeneration(),
                spec.nicSelector(),
                spec.provisionedBy(sriovInstalled),
                spec.virtualFunctions(),
                spec.mtu(),
                spec.enableIwarp(),
                spec.drain(),
                // Multus takes the devices of a pod from the device plugin.
                claims && spec.network() != null ? Boolean.TRUE : null);
    }
}
