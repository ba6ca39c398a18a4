// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Choice of the component that creates the virtual functions of a policy. */
public enum Provisioner {
    /** The SR-IOV network operator where it is installed, otherwise the node agent. */
    @JsonProperty("Auto")
    AUTO,

    /** The node agent, whether or not the SR-IOV network operator is installed. */
    @JsonProperty("NodeAgent")
    NODE_AGENT,

    /** The SR-IOV network operator, which must be installed. */
    @JsonProperty("SriovNetworkOperator")
    SRIOV_NETWORK_OPERATOR
}
