// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** A virtual function of a NIC. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VirtualFunctionStatus(
        @JsonPropertyDescription("Number of the virtual function, from 0.")
        int index,

        @JsonPropertyDescription("PCI address.") @Required String pciAddress,

        @JsonPropertyDescription(
                "Network interface. Unset: the node sees no interface, for instance because a pod has it.")
        @Nullable
        String interfaceName,

        @JsonPropertyDescription("Kernel driver. Unset: none is bound.") @Nullable
        String driver,

        @JsonPropertyDescription("Name of the RDMA device. Unset: there is none.") @Nullable
        String rdmaDevice,

        @JsonPropertyDescription(
                "Pod that uses the virtual function, as namespace/name. Unset: the virtual function is free.")
        @Nullable
        String usedBy) {}
