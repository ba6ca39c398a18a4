// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/** Number of devices of each kind of provider on a node. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ProviderCounts(
        @JsonPropertyDescription("Usable virtual functions, and RNICs that are used without virtual functions.")
        int hardware,

        @JsonPropertyDescription("Shares of the kernel's siw device.")
        int kernelSiw,

        @JsonPropertyDescription("Soft devices.") int software) {}
