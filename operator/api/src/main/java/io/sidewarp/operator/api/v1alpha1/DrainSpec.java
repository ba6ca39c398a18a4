// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/**
 * What happens to pods that use VFs which have to change. Other pods are left alone.
 *
 * @param enabled whether they are evicted, and no others get these VFs meanwhile; otherwise the change waits until they are gone
 * @param timeoutSeconds how long the change waits for pods to leave
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record DrainSpec(
        @JsonPropertyDescription(
                "Whether pods that use such a virtual function are evicted, respecting PodDisruptionBudgets, and no pods"
                        + " get it until it has changed. false: the change waits until nobody uses such functions, and"
                        + " pods go on getting them.")
        @Default("false")
        Boolean enabled,

        @JsonPropertyDescription(
                "Seconds after which a change that still waits for pods, evicted or not, is reported as Degraded."
                        + " It goes on waiting.")
        @Min(1)
        @Max(86400)
        @Default("300")
        Integer timeoutSeconds) {

    public DrainSpec(@Nullable Boolean enabled, @Nullable Integer timeoutSeconds) {
        this.enabled = enabled != null && enabled;
        this.timeoutSeconds = timeoutSeconds == null ? 300 : timeoutSeconds;
    }
}
