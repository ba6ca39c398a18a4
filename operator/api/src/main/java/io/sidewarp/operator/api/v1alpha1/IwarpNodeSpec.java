// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;

/**
 * What the controller asks a node for.
 *
 * @param policies those that select the node, the one that counts first at the front
 * @param fallback what the node offers when no selected NIC is usable, the preferred one first
 * @param siw set-up of kernel soft-iWARP
 * @param software set-up of soft devices
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNodeSpec(
        @JsonPropertyDescription("Policies that select this node. The first one that selects a NIC rules it.")
        List<NodePolicy> policies,

        @JsonPropertyDescription(
                "What the node offers when none of its NICs is selected and usable, the preferred one first.")
        List<Fallback> fallback,

        @JsonPropertyDescription("Set-up of kernel soft-iWARP.")
        SiwSpec siw,

        @JsonPropertyDescription("Set-up of soft devices.") SoftwareSpec software) {

    public IwarpNodeSpec {
        policies = policies == null ? List.of() : List.copyOf(policies);
        fallback = fallback == null ? List.of() : List.copyOf(fallback);
        siw = siw == null ? new SiwSpec(null, null) : siw;
        software = software == null ? new SoftwareSpec(null) : software;
    }
}
