// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Kind of container of the sidecar. */
public enum SidecarPlacement {
    /**
     * A native sidecar if the API server and all Linux nodes support native sidecars, otherwise an ordinary container.
     */
    @JsonProperty("Auto")
    AUTO,

    /** An init container with restart policy Always. It starts before and ends after all other containers. */
    @JsonProperty("Native")
    NATIVE,

    /** An ordinary container. */
    @JsonProperty("Container")
    CONTAINER
}
