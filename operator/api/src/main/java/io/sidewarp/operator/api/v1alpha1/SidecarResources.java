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
 * @param limits what is not exceeded; null for what {@link #limitsWith} says
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SidecarResources(
        @JsonPropertyDescription(
                "What is reserved for the sidecar. Unset: cpu 100m, memory 256Mi, whatever sharedMemory is.")
        Map<String, Quantity> requests,

        @JsonPropertyDescription(
                "What the sidecar cannot exceed. Unset: no limit of CPU, memory 1Gi and what shared regions can take, or"
                        + " none where the whole pod has a lower one. A limit of memory has to be above sharedMemory. Pods"
                        + " whose own shared volume is of huge pages take a limit of these too, such as hugepages-2Mi.")
        @Nullable
        Map<String, Quantity> limits) {

    private static final Map<String, Quantity> DEFAULT_REQUESTS =
            Map.of("cpu", new Quantity("100m"), "memory", new Quantity("256Mi"));

    /** What a sidecar takes at most besides shared regions. */
    private static final Quantity OWN_MEMORY = new Quantity("1Gi");

    public SidecarResources(@Nullable Map<String, Quantity> requests, @Nullable Map<String, Quantity> limits) {
        this.requests = requests == null ? DEFAULT_REQUESTS : Map.copyOf(requests);
        this.limits = limits == null ? null : Map.copyOf(limits);
    }

    /**
     * Limits of a sidecar whose shared regions can take an amount of memory.
     *
     * @param sharedMemory that amount; 0 where the regions are in huge pages, which are counted apart
     */
    public Map<String, Quantity> limitsWith(Quantity sharedMemory) {
        return limits == null ? Map.of("memory", memoryWith(sharedMemory)) : limits;
    }

    /** Memory of a sidecar with that of shared regions, which counts to it: it has the kernel allocate their pages. */
    public static Quantity memoryWith(Quantity sharedMemory) {
        return sharedMemory.add(OWN_MEMORY);
    }
}
