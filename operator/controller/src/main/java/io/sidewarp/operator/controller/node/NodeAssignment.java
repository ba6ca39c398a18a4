// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicySpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.SiwSpec;
import io.sidewarp.operator.api.v1alpha1.SoftwareSpec;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Which policies apply to a node. Depends on nothing but its arguments. */
final class NodeAssignment {
    private static final Comparator<IwarpNicPolicy> ORDER = Comparator.comparing(
                    (IwarpNicPolicy policy) -> policy.getSpec().priority(), Comparator.reverseOrder())
            .thenComparing(policy -> policy.getMetadata().getName());

    private NodeAssignment() {}

    /**
     * What a node is asked for. Policies that are being deleted no longer count, so that the node restores what they changed.
     *
     * @param labels labels of the node
     * @param policies all policies
     * @param unselected what counts where no policy selects the node
     */
    static IwarpNodeSpec of(
            Map<String, String> labels, Collection<IwarpNicPolicy> policies, OperatorConfig.Unselected unselected) {
        List<IwarpNicPolicy> selecting = policies.stream()
                .filter(policy -> policy.getSpec() != null && !policy.isMarkedForDeletion())
                .filter(policy -> labels.entrySet()
                        .containsAll(policy.getSpec().nodeSelector().entrySet()))
                .sorted(ORDER)
                .toList();
        List<NodePolicy> parts = selecting.stream().map(NodeAssignment::part).toList();
        if (selecting.isEmpty()) {
            return new IwarpNodeSpec(
                    parts,
                    unselected.fallback(),
                    new SiwSpec(null, unselected.siwDevices()),
                    new SoftwareSpec(unselected.softwareDevices()));
        }
        IwarpNicPolicySpec first = selecting.getFirst().getSpec();
        return new IwarpNodeSpec(parts, first.fallback(), first.siw(), first.software());
    }

    private static NodePolicy part(IwarpNicPolicy policy) {
        IwarpNicPolicySpec spec = policy.getSpec();
        return new NodePolicy(
                policy.getMetadata().getName(),
                policy.getMetadata().getGeneration(),
                spec.nicSelector(),
                spec.virtualFunctions(),
                spec.mtu(),
                spec.enableIwarp(),
                spec.drain());
    }
}
