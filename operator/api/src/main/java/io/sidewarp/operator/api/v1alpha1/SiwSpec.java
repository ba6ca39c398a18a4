// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import org.jspecify.annotations.Nullable;

/** Settings of kernel soft-iWARP. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SiwSpec(
        @JsonPropertyDescription(
                "Network interface on which the siw device is created. Unset: the interface of the node's default"
                        + " route.")
        @Pattern("^[^/\\s]{1,15}$")
        @Nullable
        String interfaceName,

        @JsonPropertyDescription(
                "Number of devices that the node offers on its siw device, which is the number of pods that can share"
                        + " the siw device.")
        @Min(1)
        @Max(1024)
        @Default("64")
        Integer devices) {

    public SiwSpec(@Nullable String interfaceName, @Nullable Integer devices) {
        this.interfaceName = interfaceName;
        this.devices = devices == null ? 64 : devices;
    }
}
