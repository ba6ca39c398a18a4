// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicySpec;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;

/** Chooses the component that creates the virtual functions of policies. Depends on nothing but its arguments. */
public final class Provisioning {
    private Provisioning() {}

    /**
     * Returns the component that creates the virtual functions of a policy. A policy without virtual functions always
     * belongs to the node agent, because the SR-IOV network operator has no such policies.
     *
     * @param sriovInstalled whether the cluster has the SR-IOV network operator
     */
    public static ProvisionedBy of(IwarpNicPolicySpec policy, boolean sriovInstalled) {
        if (policy.virtualFunctions() == null || policy.virtualFunctions() == 0) {
            return ProvisionedBy.NODE_AGENT;
        }
        return switch (policy.provisioner()) {
            case AUTO -> sriovInstalled ? ProvisionedBy.SRIOV_NETWORK_OPERATOR : ProvisionedBy.NODE_AGENT;
            case NODE_AGENT -> ProvisionedBy.NODE_AGENT;
            case SRIOV_NETWORK_OPERATOR -> ProvisionedBy.SRIOV_NETWORK_OPERATOR;
        };
    }
}
