// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Who sets the number of virtual functions and the MTU of NICs, and offers those functions to pods. */
public enum ProvisionedBy {
    /** The node agent; pods ask for {@code sidewarp.io/rnic}. */
    @JsonProperty("NodeAgent")
    NODE_AGENT,

    /** The SR-IOV network operator; pods ask for a resource of its device plugin. */
    @JsonProperty("SriovNetworkOperator")
    SRIOV_NETWORK_OPERATOR
}
