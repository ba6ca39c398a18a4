// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/** Kinds of devices that a node can offer when it has no RNIC. */
public enum Fallback {
    /** A siw device of the node's kernel on one of the node's interfaces. */
    @JsonProperty("KernelSiw")
    KERNEL_SIW,

    /** Soft devices. They only count pods. */
    @JsonProperty("Software")
    SOFTWARE;

    /** Order for a policy that sets none. */
    public static final List<Fallback> DEFAULT_ORDER = List.of(KERNEL_SIW, SOFTWARE);
}
