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

/**
 * What a policy asks for.
 *
 * @param nodeSelector labels that a node must have; empty for all Linux nodes
 * @param priority decides between policies that select the same NIC
 * @param nicSelector which NICs
 * @param provisioner who makes the VFs
 * @param network the network that pods get with a VF, where Multus is installed; null for none
 * @param virtualFunctions how many VFs each selected NIC has; null to leave it as it is
 * @param mtu MTU in octets of the selected NICs; null to leave it as it is
 * @param enableIwarp whether iWARP is on where devlink has a parameter for it; null to leave it as it is
 * @param drain what happens to pods on VFs that have to change
 * @param fallback what nodes offer where no selected NIC is, the preferred one first
 * @param siw how kernel soft-iWARP is set up, where the fallback comes to it
 * @param software how many soft devices are offered, where the fallback comes to it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNicPolicySpec(
        @JsonPropertyDescription(
                "Labels that a node must have for this policy to apply to it. Empty: all nodes. Nodes that run another"
                        + " system than Linux are never selected.")
        Map<String, @Pattern("^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$") String> nodeSelector,

        @JsonPropertyDescription(
                "Of several policies that select one NIC, the one with the highest priority counts; at equal"
                        + " priority, the one whose name comes first.")
        @Min(0)
        @Max(1000)
        @Default("0")
        Integer priority,

        @JsonPropertyDescription("Which NICs of these nodes. All criteria that are given must hold. NICs that no policy"
                + " selects are never touched.")
        @Required
        NicSelector nicSelector,

        @JsonPropertyDescription(
                "Who makes virtual functions, sets the MTU of NICs that have them, and offers them to pods. Auto: the"
                        + " SR-IOV network operator where it is installed, else the node agent.")
        @Default("Auto")
        Provisioner provisioner,

        @JsonPropertyDescription(
                "Network that pods get with a virtual function: a NetworkAttachmentDefinition for the CNI plugin sriov,"
                        + " named as the policy, where Multus is installed. Unset: none.")
        @Nullable
        NetworkSpec network,

        @JsonPropertyDescription(
                "Number of SR-IOV virtual functions of each selected NIC. 0: none, the NIC itself is used."
                        + " Unset: the number stays as it is.")
        @Min(0)
        @Max(MAX_VIRTUAL_FUNCTIONS)
        @Nullable
        Integer virtualFunctions,

        @JsonPropertyDescription("MTU of the selected NICs, in octets. Unset: it stays as it is.")
        @Min(MIN_MTU)
        @Max(MAX_MTU)
        @Nullable
        Integer mtu,

        @JsonPropertyDescription(
                "Whether iWARP is on in NICs that have a devlink parameter enable_iwarp (Intel E810); others ignore"
                        + " it. Unset: it stays as it is.")
        @Nullable
        Boolean enableIwarp,

        @JsonPropertyDescription("What happens to pods that use virtual functions which have to change.") @Default("{}")
        DrainSpec drain,

        @JsonPropertyDescription(
                "What a node offers when none of its NICs is selected and usable, the preferred one first."
                        + " Empty: nothing, pods that ask for a device do not run there. Through KernelSiw only pods with"
                        + " hostNetwork have connections, since the interface is the node's.")
        @Size(max = 2)
        @Default("[\"KernelSiw\", \"Software\"]")
        List<Fallback> fallback,

        @JsonPropertyDescription("Set-up of kernel soft-iWARP, for nodes that fall back to it.") @Default("{}")
        SiwSpec siw,

        @JsonPropertyDescription("Set-up of soft devices, for nodes that fall back to them.") @Default("{}")
        SoftwareSpec software) {

    static final int MAX_VIRTUAL_FUNCTIONS = 256;

    /** What IPv6 needs, RFC 8200 section 5. */
    static final int MIN_MTU = 1280;

    /** Above what drivers of RNICs take; each has a limit of its own. */
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
}
