// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Progress of one part of a node towards its desired state. */
public enum ProvisioningState {
    /** The part is in its desired state, whether or not it can be used now. */
    @JsonProperty("Done")
    DONE,

    /** The change waits for pods to leave, or for another component. */
    @JsonProperty("Waiting")
    WAITING,

    /** A change failed or was refused, or waited for too long. */
    @JsonProperty("Failed")
    FAILED
}
