// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Desired state of a node, as the controller requests it. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNodeSpec(
        @JsonPropertyDescription(
                "Policies that select this node. The first policy that selects a NIC applies to that NIC.")
        List<NodePolicy> policies,

        @JsonPropertyDescription(
                "Kinds of devices that the node offers when none of its NICs is both selected and usable, in order of"
                        + " preference.")
        List<Fallback> fallback,

        @JsonPropertyDescription("Settings of kernel soft-iWARP.")
        SiwSpec siw,

        @JsonPropertyDescription("Settings of soft devices.")
        SoftwareSpec software,

        @JsonPropertyDescription(
                "True: the node offers its devices to ResourceClaims (Dynamic Resource Allocation). Otherwise the node"
                        + " offers its devices by the device plugin. Policies with devicePlugin are an exception.")
        @Nullable
        Boolean resourceClaims) {

    public IwarpNodeSpec {
        policies = policies == null ? List.of() : List.copyOf(policies);
        fallback = fallback == null ? List.of() : List.copyOf(fallback);
        siw = siw == null ? new SiwSpec(null, null) : siw;
        software = software == null ? new SoftwareSpec(null) : software;
    }

    /** Returns whether the node offers its devices to ResourceClaims. */
    public boolean offersClaims() {
        return Boolean.TRUE.equals(resourceClaims);
    }
}
