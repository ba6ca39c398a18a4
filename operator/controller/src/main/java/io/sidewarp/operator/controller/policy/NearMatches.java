// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Explains why a policy selects no NIC, by the NICs that its selector misses least. */
final class NearMatches {
    private static final int NAMED_NICS = 3;

    private NearMatches() {}

    /**
     * A NIC that the policy does not have.
     *
     * @param differences criteria of the selector that the NIC does not meet
     */
    private record Candidate(String node, NicStatus nic, List<String> differences) {
        @Override
        public String toString() {
            String found = node + " has " + nic.name() + " of vendor " + nic.vendor() + ", device " + nic.device()
                    + (nic.driver() == null ? ", without a driver" : ", driver " + nic.driver());
            if (!differences.isEmpty()) {
                return found + "; the policy wants " + String.join(" and ", differences) + ".";
            }
            return found + "; "
                    + (nic.policy() == null ? "no policy has it yet." : "policy " + nic.policy() + " has it.");
        }
    }

    /**
     * Returns the message for a policy without a NIC.
     *
     * @param policy name of the policy
     * @param nodes nodes that the policy selects
     */
    static String message(String policy, Collection<IwarpNode> nodes) {
        List<Candidate> candidates = nodes.stream()
                .flatMap(node -> candidates(policy, node))
                .sorted(Comparator.comparingInt(
                        candidate -> candidate.differences().size()))
                .toList();
        if (candidates.isEmpty()) {
            return "The policy selects no NIC. The selected nodes have no NICs that support RDMA or SR-IOV.";
        }
        int fewest = candidates.getFirst().differences().size();
        return "The policy selects no NIC. "
                + candidates.stream()
                        .filter(candidate -> candidate.differences().size() == fewest)
                        .limit(NAMED_NICS)
                        .map(Candidate::toString)
                        .collect(Collectors.joining(" "));
    }

    private static Stream<Candidate> candidates(String policy, IwarpNode node) {
        NicSelector selector = node.getSpec().policies().stream()
                .filter(part -> part.name().equals(policy))
                .map(NodePolicy::nicSelector)
                .findFirst()
                .orElseThrow();
        return node.reported().map(IwarpNodeStatus::nics).stream()
                .flatMap(List::stream)
                .map(nic -> new Candidate(node.getMetadata().getName(), nic, differences(selector, nic)));
    }

    private static List<String> differences(NicSelector selector, NicStatus nic) {
        List<String> differences = new ArrayList<>();
        compare("vendor", selector.vendors(), nic.vendor(), differences);
        compare("device", selector.deviceIds(), nic.device(), differences);
        compare("driver", selector.drivers(), nic.driver(), differences);
        compare("PCI address", selector.pciAddresses(), nic.pciAddress(), differences);
        if (!selector.pfNames().isEmpty() && selector.pfNames().stream().noneMatch(name -> matches(name, nic.name()))) {
            differences.add("interface " + String.join(" or ", selector.pfNames()));
        }
        return differences;
    }

    private static void compare(String what, List<String> wanted, @Nullable String found, List<String> differences) {
        if (!wanted.isEmpty() && wanted.stream().noneMatch(entry -> Objects.equals(entry, found))) {
            differences.add(what + " " + String.join(" or ", wanted));
        }
    }

    /** Matches an interface's name as the node agents do: * stands for any characters, ? for one character. */
    private static boolean matches(String pattern, String name) {
        return name.matches(("\\Q" + pattern + "\\E").replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q"));
    }
}
