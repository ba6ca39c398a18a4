// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Desired state of a policy. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNicPolicySpec(
        @JsonPropertyDescription(
                "Labels that a node must have for this policy to apply. Empty: all Linux nodes. Nodes with another"
                        + " operating system are never selected.")
        Map<String, @Pattern("^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$") String> nodeSelector,

        @JsonPropertyDescription(
                "When several policies select one NIC, the policy with the highest priority applies. At equal priority,"
                        + " the policy whose name comes first in alphabetical order applies.")
        @Min(0)
        @Max(1000)
        @Default("0")
        Integer priority,

        @JsonPropertyDescription(
                "Selects NICs of these nodes. A NIC must match all criteria that are set. NICs that no policy selects"
                        + " are never changed.")
        @Required
        NicSelector nicSelector,

        @JsonPropertyDescription(
                "Component that creates virtual functions, sets the MTU of NICs that have them, and offers them to"
                        + " pods. Auto: the SR-IOV network operator where it is installed, otherwise the node agent.")
        @Default("Auto")
        Provisioner provisioner,

        @JsonPropertyDescription(
                "Network that pods get with a virtual function. Where Multus is installed, the network is a"
                        + " NetworkAttachmentDefinition for the CNI plugin sriov with the name of the policy. Unset: no"
                        + " network.")
        @Nullable
        NetworkSpec network,

        @JsonPropertyDescription(
                "Number of SR-IOV virtual functions of each selected NIC. 0: no virtual functions, and the NIC itself"
                        + " is used. Unset: the number stays unchanged.")
        @Min(0)
        @Max(MAX_VIRTUAL_FUNCTIONS)
        @Nullable
        Integer virtualFunctions,

        @JsonPropertyDescription(
                "MTU of the selected NICs and of their virtual functions, in bytes. Unset: the MTU stays unchanged.")
        @Min(MIN_MTU)
        @Max(MAX_MTU)
        @Nullable
        Integer mtu,

        @JsonPropertyDescription(
                "Turns iWARP on or off in NICs that have the devlink parameter enable_iwarp (Intel E810). Other NICs"
                        + " ignore this field. Unset: the parameter stays unchanged.")
        @Nullable
        Boolean enableIwarp,

        @JsonPropertyDescription("Handling of pods that use virtual functions that must change.") @Default("{}")
        DrainSpec drain,

        @JsonPropertyDescription(
                "Kinds of devices that a node offers when none of its NICs is both selected and usable, in order of"
                        + " preference. Empty: the node offers no devices, and pods that request a device do not run"
                        + " there. With KernelSiw, only pods with hostNetwork can have connections, because the"
                        + " interface belongs to the node.")
        @Size(max = 2)
        @Default("[\"KernelSiw\", \"Software\"]")
        List<Fallback> fallback,

        @JsonPropertyDescription("Settings of kernel soft-iWARP, for nodes that fall back to it.") @Default("{}")
        SiwSpec siw,

        @JsonPropertyDescription("Settings of soft devices, for nodes that fall back to them.") @Default("{}")
        SoftwareSpec software) {

    static final int MAX_VIRTUAL_FUNCTIONS = 256;

    /** Smallest MTU of IPv6, RFC 8200 section 5. */
    static final int MIN_MTU = 1280;

    /** Upper bound of all RNIC drivers. Each driver has a lower limit of its own. */
    static final int MAX_MTU = 9978;

    public IwarpNicPolicySpec {
        nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
        priority = priority == null ? 0 : priority;
        provisioner = provisioner == null ? Provisioner.AUTO : provisioner;
        drain = drain == null ? new DrainSpec(null, null) : drain;
        fallback = fallback == null ? Fallback.DEFAULT_ORDER : List.copyOf(fallback);
        siw = siw == null ? new SiwSpec(null, null) : siw;
        software = software == null ? new SoftwareSpec(null) : software;
    }

    /**
     * Returns the component that creates the virtual functions. A policy without virtual functions always belongs to
     * the node agent, because the SR-IOV network operator has no such policies.
     *
     * @param sriovInstalled whether the cluster has the SR-IOV network operator
     */
    public ProvisionedBy provisionedBy(boolean sriovInstalled) {
        boolean bySriovOperator = switch (provisioner) {
            case AUTO -> sriovInstalled;
            case NODE_AGENT -> false;
            case SRIOV_NETWORK_OPERATOR -> true;
        };
        return bySriovOperator && virtualFunctions != null && virtualFunctions > 0
                ? ProvisionedBy.SRIOV_NETWORK_OPERATOR
                : ProvisionedBy.NODE_AGENT;
    }
}
