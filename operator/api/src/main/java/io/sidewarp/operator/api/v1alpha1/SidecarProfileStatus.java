// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a profile: whether pods can use it. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SidecarProfileStatus(
        @JsonPropertyDescription("Generation of the profile that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(
                "Ready: pods can use the profile. Progressing: pods are refused until the IwarpNicPolicy of the profile"
                        + " has a network. Degraded: pods cannot use the profile and are refused. The message says what"
                        + " to change.")
        List<StatusCondition> conditions) {

    public SidecarProfileStatus {
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }
}
