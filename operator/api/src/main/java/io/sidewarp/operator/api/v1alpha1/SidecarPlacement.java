// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What kind of container the sidecar is. */
public enum SidecarPlacement {
    /** Native where the API server and all Linux nodes have native sidecars. */
    @JsonProperty("Auto")
    AUTO,

    /** An init container with restart policy Always: runs before, and ends after, all other containers. */
    @JsonProperty("Native")
    NATIVE,

    /** A container beside the others. */
    @JsonProperty("Container")
    CONTAINER
}
