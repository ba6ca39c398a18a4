// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicySpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The SriovNetworkNodePolicies that are equivalent to an {@link IwarpNicPolicy}. There is one for each model of NIC to
 * which the policy applies. A SriovNetworkNodePolicy can name one vendor and one device, but no driver and no pattern.
 * Depends on nothing but its arguments.
 *
 * @param specs specifications by name
 * @param refusal why the policy has no equivalent, and what to do
 */
record SriovPolicies(SortedMap<String, Map<String, Object>> specs, Optional<String> refusal) {
    /** Lowest priority of a SriovNetworkNodePolicy. 0 is the highest. */
    private static final int LOWEST_PRIORITY = 99;

    /** Largest length of the name after the prefix of an extended resource, in Kubernetes. */
    private static final int MAX_RESOURCE_NAME = 63;

    /** Member of a specification that exists only if the policy sets it. */
    static final String MTU = "mtu";

    private static final String NIC_SELECTOR = "nicSelector";
    private static final String INTERFACES = "pfNames";
    private static final String ADDRESSES = "rootDevices";
    private static final String RESOURCE_PREFIX = "sidewarp_";
    private static final String NAME_PREFIX = "sidewarp-";

    /**
     * Derives the SriovNetworkNodePolicies of a policy.
     *
     * @param rank number of policies that come before this policy
     * @param nodes all nodes
     */
    static SriovPolicies of(IwarpNicPolicy policy, int rank, Collection<IwarpNode> nodes) {
        String name = policy.getMetadata().getName();
        if (resourceName(name).length() > MAX_RESOURCE_NAME) {
            return refused(
                    "the SR-IOV network operator offers virtual functions under the policy's name, which is longer"
                            + " than " + (MAX_RESOURCE_NAME - RESOURCE_PREFIX.length())
                            + " characters; give it a shorter one, or set provisioner to NodeAgent");
        }
        List<IwarpNode> selected = nodes.stream()
                .filter(node -> node.getStatus() != null && indexOf(name, node) >= 0)
                .toList();
        SortedMap<String, List<NicStatus>> models = selected.stream()
                .flatMap(node -> node.getStatus().nics().stream())
                .filter(nic -> name.equals(nic.policy()) && nic.totalVirtualFunctions() > 0)
                .collect(Collectors.groupingBy(
                        nic -> nic.vendor() + "-" + nic.device(), TreeMap::new, Collectors.toList()));
        SortedMap<String, Map<String, Object>> specs = new TreeMap<>();
        for (Map.Entry<String, List<NicStatus>> model : models.entrySet()) {
            Selection selection =
                    Selection.of(model.getValue(), policy.getSpec().nicSelector());
            Optional<String> others = selected.stream()
                    .flatMap(node -> foreign(name, node, selection))
                    .findFirst();
            if (others.isPresent()) {
                return refused(
                        "a SriovNetworkNodePolicy would also take " + others.get() + ", which this policy does not"
                                + " select: it cannot select by driver; use pciAddresses, pfNames or the nodeSelector, or"
                                + " set provisioner to NodeAgent");
            }
            specs.put(NAME_PREFIX + name + "-" + model.getKey(), spec(policy, rank, selection));
        }
        return new SriovPolicies(specs, Optional.empty());
    }

    /**
     * Adds the NICs of the present specification to a new one, for members that list NICs by name or address.
     *
     * @param spec one of {@link #specs}
     * @param present the present specification, with any content
     */
    static Map<String, Object> widened(Map<String, Object> spec, Map<String, Object> present) {
        if (!(spec.get(NIC_SELECTOR) instanceof Map<?, ?> selector
                && present.get(NIC_SELECTOR) instanceof Map<?, ?> former)) {
            return spec;
        }
        Map<Object, Object> wider = new LinkedHashMap<>(selector);
        for (String member : List.of(INTERFACES, ADDRESSES)) {
            if (selector.get(member) instanceof List<?> names && former.get(member) instanceof List<?> more) {
                wider.put(
                        member,
                        Stream.concat(names.stream(), more.stream())
                                .map(String::valueOf)
                                .distinct()
                                .sorted()
                                .toList());
            }
        }
        Map<String, Object> widened = new LinkedHashMap<>(spec);
        widened.put(NIC_SELECTOR, wider);
        return widened;
    }

    /**
     * Returns the resource name of a policy. It consists of letters, digits and underscores, and is unique for each
     * policy.
     */
    static String resourceName(String policy) {
        return RESOURCE_PREFIX + policy.replace('-', '_').replace('.', 'D');
    }

    private static SriovPolicies refused(String why) {
        return new SriovPolicies(new TreeMap<>(), Optional.of(why));
    }

    private static Map<String, Object> spec(IwarpNicPolicy policy, int rank, Selection selection) {
        IwarpNicPolicySpec asked = policy.getSpec();
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("resourceName", resourceName(policy.getMetadata().getName()));
        spec.put("nodeSelector", asked.nodeSelector());
        spec.put("priority", Math.min(rank, LOWEST_PRIORITY));
        spec.put(NIC_SELECTOR, selection.nicSelector());
        spec.put("numVfs", Objects.requireNonNull(asked.virtualFunctions()));
        if (asked.mtu() != null) {
            spec.put(MTU, asked.mtu());
        }
        spec.put("deviceType", "netdevice");
        spec.put("isRdma", true);
        return spec;
    }

    /**
     * Returns NICs that a selection would also take, although neither this policy nor a policy before it applies to
     * them. A policy before this one also wins in the SR-IOV network operator.
     */
    private static Stream<String> foreign(String policy, IwarpNode node, Selection selection) {
        if (!Objects.equals(
                node.getStatus().observedGeneration(), node.getMetadata().getGeneration())) {
            // The node agent has not seen the policy yet.
            return Stream.of();
        }
        int index = indexOf(policy, node);
        return node.getStatus().nics().stream()
                .filter(nic -> nic.totalVirtualFunctions() > 0 && selection.takes(nic))
                .filter(nic -> nic.policy() == null || indexOf(nic.policy(), node) > index)
                .map(nic -> nic.name() + " of node " + node.getMetadata().getName());
    }

    private static int indexOf(String policy, IwarpNode node) {
        return node.getSpec() == null
                ? -1
                : node.getSpec().policies().stream()
                        .map(NodePolicy::name)
                        .toList()
                        .indexOf(policy);
    }

    /** NICs of one model. Names and addresses are listed if the policy selects NICs by them. */
    private record Selection(String vendor, String device, List<String> names, List<String> addresses) {

        static Selection of(List<NicStatus> nics, NicSelector selector) {
            return new Selection(
                    nics.getFirst().vendor(),
                    nics.getFirst().device(),
                    selector.pfNames().isEmpty() ? List.of() : sorted(nics, NicStatus::name),
                    selector.pciAddresses().isEmpty() ? List.of() : sorted(nics, NicStatus::pciAddress));
        }

        private static List<String> sorted(List<NicStatus> nics, Function<NicStatus, String> member) {
            return nics.stream().map(member).distinct().sorted().toList();
        }

        boolean takes(NicStatus nic) {
            return nic.vendor().equals(vendor)
                    && nic.device().equals(device)
                    && (names.isEmpty() || names.contains(nic.name()))
                    && (addresses.isEmpty() || addresses.contains(nic.pciAddress()));
        }

        Map<String, Object> nicSelector() {
            Map<String, Object> selector = new LinkedHashMap<>();
            selector.put("vendor", vendor);
            selector.put("deviceID", device);
            if (!names.isEmpty()) {
                selector.put(INTERFACES, names);
            }
            if (!addresses.isEmpty()) {
                selector.put(ADDRESSES, addresses);
            }
            return selector;
        }
    }
}
