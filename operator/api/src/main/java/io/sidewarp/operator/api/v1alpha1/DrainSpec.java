// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** Handling of pods that use VFs that must change. Other pods are not affected. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record DrainSpec(
        @JsonPropertyDescription("If true, pods that use a virtual function that must change are evicted, respecting"
                + " PodDisruptionBudgets. No pod gets the function until the change is done. If false, the"
                + " change waits until no pod uses such a function. Pods can still get one meanwhile.")
        @Default("false")
        Boolean enabled,

        @JsonPropertyDescription(
                "Seconds after which a change that still waits for pods is reported as Degraded, with or without"
                        + " eviction. The change continues to wait.")
        @Min(1)
        @Max(86400)
        @Default("300")
        Integer timeoutSeconds) {

    public DrainSpec(@Nullable Boolean enabled, @Nullable Integer timeoutSeconds) {
        this.enabled = enabled != null && enabled;
        this.timeoutSeconds = timeoutSeconds == null ? 300 : timeoutSeconds;
    }
}
