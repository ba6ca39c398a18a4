// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How far a part of a node is what it is asked to be. */
public enum ProvisioningState {
    /** It is, whether or not it can be used now. */
    @JsonProperty("Done")
    DONE,

    /** Something is waited for: pods that go, or what others make. */
    @JsonProperty("Waiting")
    WAITING,

    /** A change failed or was refused, or something is waited for too long. */
    @JsonProperty("Failed")
    FAILED
}
