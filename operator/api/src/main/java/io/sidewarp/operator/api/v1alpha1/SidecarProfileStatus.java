// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a profile can be used.
 *
 * @param observedGeneration generation of the profile that this status is of
 * @param conditions Ready, Progressing, Degraded
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SidecarProfileStatus(
        @JsonPropertyDescription("Generation of the profile that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(
                "Ready: pods can use the profile. Progressing: they are refused until its IwarpNicPolicy has a network."
                        + " Degraded: they cannot use it, and are refused; the message says what to change.")
        List<StatusCondition> conditions) {

    public SidecarProfileStatus {
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }
}
