// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Component that sets the number of virtual functions and the MTU of NICs, and offers the virtual functions to pods.
 */
public enum ProvisionedBy {
    /** The node agent. Pods request {@code sidewarp.io/rnic}. */
    @JsonProperty("NodeAgent")
    NODE_AGENT,

    /** The SR-IOV network operator. Pods request a resource of its device plugin. */
    @JsonProperty("SriovNetworkOperator")
    SRIOV_NETWORK_OPERATOR
}
