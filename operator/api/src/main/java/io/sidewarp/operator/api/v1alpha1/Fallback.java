// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/** What a node can offer when it has no RNIC. */
public enum Fallback {
    /** A siw device of the node's kernel, on one of its interfaces. */
    @JsonProperty("KernelSiw")
    KERNEL_SIW,

    /** Soft devices, which do nothing but count pods. */
    @JsonProperty("Software")
    SOFTWARE;

    /** Where a policy does not say. */
    public static final List<Fallback> DEFAULT_ORDER = List.of(KERNEL_SIW, SOFTWARE);
}
