// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** Settings of soft devices. Soft devices only count the pods that request a device. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SoftwareSpec(
        @JsonPropertyDescription(
                "Number of soft devices that the node offers, which is the number of pods with a device that can run"
                        + " there.")
        @Min(1)
        @Max(1024)
        @Default("256")
        Integer devices) {

    public SoftwareSpec(@Nullable Integer devices) {
        this.devices = devices == null ? 256 : devices;
    }
}
