// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Origin of the certificate of a sidecar. */
public enum IdentitySource {
    /** The controller, which signs a certificate for the service account of the pod. */
    @JsonProperty("builtin")
    BUILTIN("builtin"),

    /** Files in a CSI volume, such as those of cert-manager's csi-driver-spiffe. */
    @JsonProperty("files")
    FILES("files"),

    /** The SPIFFE Workload API, whose socket is in a CSI volume. */
    @JsonProperty("spiffe")
    SPIFFE("spiffe");

    private final String value;

    IdentitySource(String value) {
        this.value = value;
    }

    /** Returns the value of the sidecar's setting. */
    public String value() {
        return value;
    }
}
