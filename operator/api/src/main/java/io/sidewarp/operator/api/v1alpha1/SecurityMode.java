// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Use of TLS on the connections of a sidecar. */
public enum SecurityMode {
    /** No TLS. */
    @JsonProperty("plain")
    PLAIN("plain"),

    /** TLS with peers that speak it. This protects against attackers that only read. */
    @JsonProperty("preferred")
    PREFERRED("preferred"),

    /** TLS on all connections. */
    @JsonProperty("required")
    REQUIRED("required");

    private final String value;

    SecurityMode(String value) {
        this.value = value;
    }

    /** Returns the value of the sidecar's setting. */
    public String value() {
        return value;
    }
}
