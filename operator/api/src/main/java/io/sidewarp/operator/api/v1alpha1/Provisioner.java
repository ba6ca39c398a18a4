// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Who shall make the virtual functions of a policy. */
public enum Provisioner {
    /** The SR-IOV network operator where it is installed, the node agent elsewhere. */
    @JsonProperty("Auto")
    AUTO,

    /** The node agent, whatever is installed. */
    @JsonProperty("NodeAgent")
    NODE_AGENT,

    /** The SR-IOV network operator, which has to be installed. */
    @JsonProperty("SriovNetworkOperator")
    SRIOV_NETWORK_OPERATOR
}
