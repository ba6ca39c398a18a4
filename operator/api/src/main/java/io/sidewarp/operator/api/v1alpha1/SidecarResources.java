// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** CPU and memory of a sidecar, as in any container. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SidecarResources(
        @JsonPropertyDescription(
                "Resources that are reserved for the sidecar. Unset: cpu 100m and memory 256Mi, independent of"
                        + " sharedMemory. In a pod of the class Guaranteed, the sidecar's requests are its limits.")
        Map<String, Quantity> requests,

        @JsonPropertyDescription(
                "Limits of the sidecar. Unset: no CPU limit, and a memory limit of 1Gi plus what the shared regions can"
                        + " take. If the whole pod has a lower memory limit, the sidecar has none of its own. A memory"
                        + " limit must be above sharedMemory. In a pod of the class Guaranteed, the CPU limit that is"
                        + " unset is the request, at least 500m. Pods whose own shared volume is in huge pages need a"
                        + " limit of huge pages too, such as hugepages-2Mi.")
        @Nullable
        Map<String, Quantity> limits) {

    private static final Map<String, Quantity> DEFAULT_REQUESTS =
            Map.of("cpu", new Quantity("100m"), "memory", new Quantity("256Mi"));

    /** Largest amount of memory that a sidecar takes besides shared regions. */
    private static final Quantity OWN_MEMORY = new Quantity("1Gi");

    public SidecarResources(@Nullable Map<String, Quantity> requests, @Nullable Map<String, Quantity> limits) {
        this.requests = requests == null ? DEFAULT_REQUESTS : Map.copyOf(requests);
        this.limits = limits == null ? null : Map.copyOf(limits);
    }

    /**
     * Returns the limits of a sidecar, given the memory that its shared regions can take.
     *
     * @param sharedMemory memory that shared regions can take; 0 if the regions are in huge pages, which are counted
     *     apart
     */
    public Map<String, Quantity> limitsWith(Quantity sharedMemory) {
        return limits == null ? Map.of("memory", memoryWith(sharedMemory)) : limits;
    }

    /**
     * Returns the memory of a sidecar including its shared regions. They count because the sidecar makes the kernel
     * allocate their pages.
     */
    public static Quantity memoryWith(Quantity sharedMemory) {
        return sharedMemory.add(OWN_MEMORY);
    }
}
