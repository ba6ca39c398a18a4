// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Kind of the devices of a node. */
public enum ProviderKind {
    /** Virtual functions of an RNIC, or the RNIC itself. */
    @JsonProperty("Hardware")
    HARDWARE,

    /** A siw device of the node's kernel. */
    @JsonProperty("KernelSiw")
    KERNEL_SIW,

    /** Soft devices. They only count pods. */
    @JsonProperty("Software")
    SOFTWARE
}
