// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.util.List;

/** Makes policies, with null for what a policy leaves unchanged. */
final class TestPolicies {
    private TestPolicies() {}

    static NodePolicy policy(
            String name, NicSelector selector, Integer virtualFunctions, Integer mtu, Boolean enableIwarp) {
        return new NodePolicy(
                name, 1L, selector, ProvisionedBy.NODE_AGENT, virtualFunctions, mtu, enableIwarp, null, null);
    }

    static NicSelector address(String address) {
        return new NicSelector(null, null, null, null, List.of(address));
    }
}
