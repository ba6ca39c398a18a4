// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Handling of peers without TLS at the listeners of a profile with {@code peers}. */
public enum PlainPeers {
    @JsonProperty("allowed")
    ALLOWED,
    @JsonProperty("refused")
    REFUSED
}
