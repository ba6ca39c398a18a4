// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** State of a link. */
public enum LinkState {
    @JsonProperty("Up")
    UP,
    @JsonProperty("Down")
    DOWN,
    @JsonProperty("Unknown")
    UNKNOWN
}
