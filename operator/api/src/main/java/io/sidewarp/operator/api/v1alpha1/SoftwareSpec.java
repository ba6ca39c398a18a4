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
 * Soft devices. They do nothing but count the pods that ask for a device.
 *
 * @param devices how many of them a node offers
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SoftwareSpec(
        @JsonPropertyDescription(
                "How many soft devices the node offers, that is how many pods that ask for a device it takes.")
        @Min(1)
        @Max(1024)
        @Default("256")
        Integer devices) {

    public SoftwareSpec(@Nullable Integer devices) {
        this.devices = devices == null ? 256 : devices;
    }
}
