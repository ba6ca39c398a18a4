// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Network that pods get with a virtual function. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NetworkSpec(
        @JsonPropertyDescription(
                "Configuration of a CNI IPAM plugin, as a JSON object in a string. Unset: the interface gets no"
                        + " addresses.")
        @Size(max = 4096)
        @Pattern("^\\s*[{](.|\\s)*[}]\\s*$")
        @Nullable
        String ipam,

        @JsonPropertyDescription("VLAN id of the virtual functions. Unset: no VLAN.") @Min(1) @Max(4094) @Nullable
        Integer vlan) {}
