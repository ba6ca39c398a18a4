// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * CPU and memory of a sidecar, as in any container.
 *
 * @param requests what is reserved
 * @param limits what is not exceeded
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SidecarResources(
        @JsonPropertyDescription("What is reserved for the sidecar. Unset: cpu 100m, memory 256Mi.")
        Map<String, Quantity> requests,

        @JsonPropertyDescription("What the sidecar cannot exceed. Unset: no limit of CPU, memory 1Gi.")
        Map<String, Quantity> limits) {

    private static final Map<String, Quantity> DEFAULT_REQUESTS =
            Map.of("cpu", new Quantity("100m"), "memory", new Quantity("256Mi"));
    private static final Map<String, Quantity> DEFAULT_LIMITS = Map.of("memory", new Quantity("1Gi"));

    public SidecarResources(@Nullable Map<String, Quantity> requests, @Nullable Map<String, Quantity> limits) {
        this.requests = requests == null ? DEFAULT_REQUESTS : Map.copyOf(requests);
        this.limits = limits == null ? DEFAULT_LIMITS : Map.copyOf(limits);
    }
}
