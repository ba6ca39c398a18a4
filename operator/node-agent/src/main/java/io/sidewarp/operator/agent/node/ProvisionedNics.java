// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** NICs after their policies were applied: their states, and messages for people. */
final class ProvisionedNics {

    final List<ProvisioningResult> results;

    /** NICs that a policy selects, with the name of the policy. */
    final Map<PciAddress, String> ruled = new HashMap<>();

    /** States of NICs that are not as their policy wants. */
    final Map<PciAddress, ProvisioningState> states = new HashMap<>();

    /** Problems of NICs. */
    final Map<PciAddress, String> messages = new HashMap<>();

    /** Functions that pods have to leave. */
    final Set<PciAddress> drained = new HashSet<>();

    /** Pods that have to leave, on NICs whose policies drain. */
    final List<NicDrain.Request> evictions = new ArrayList<>();

    /** NICs that need somebody, each with the reason. */
    final List<String> failed = new ArrayList<>();

    /** NICs that wait for pods, each with the reason. */
    final List<String> waiting = new ArrayList<>();

    ProvisionedNics(List<ProvisioningResult> results) {
        this.results = results;
        results.forEach(result -> result.policy().ifPresent(policy -> ruled.put(result.nic(), policy)));
    }

    /** Returns whether NICs may differ from an inventory that was made before their policies were applied. */
    boolean changes(Inventory before) {
        return results.stream()
                        .anyMatch(result -> result.outcome() == Outcome.CHANGED || result.outcome() == Outcome.FAILED)
                || before.nics().stream()
                        .anyMatch(nic -> ruled.containsKey(nic.address())
                                && (!before.connectionManager()
                                        || !nic.closedToUserSpace().isEmpty()));
    }

    /**
     * Records what a NIC lacks to be as its policy wants.
     *
     * @param overdue whether the NIC has waited for pods too long
     */
    void report(ProvisioningResult result, boolean overdue) {
        String message = result.message().orElseThrow();
        boolean waits = result.outcome() == Outcome.WAITING && !overdue;
        messages.put(result.nic(), message);
        states.put(result.nic(), waits ? ProvisioningState.WAITING : ProvisioningState.FAILED);
        (waits ? waiting : failed).add(result.nic() + ": " + message);
    }

    /** Returns NICs on which interfaces do not have the MTU of the policy yet, and describes what they lack. */
    Map<PciAddress, String> lagging(Inventory inventory, List<NodePolicy> policies) {
        Map<PciAddress, String> lagging = new TreeMap<>();
        for (NodePolicy policy : policies) {
            Integer mtu = policy.mtu();
            if (mtu == null || policy.provisionedBy() != ProvisionedBy.NODE_AGENT) {
                continue;
            }
            for (Nic nic : inventory.nics()) {
                // A NIC with a state has another problem, which has a message already.
                if (policy.name().equals(ruled.get(nic.address())) && !states.containsKey(nic.address())) {
                    String interfaces = Stream.concat(nic.interfaces().stream(), nic.functionInterfaces().stream())
                            .filter(each -> each.mtu().isPresent() && each.mtu().getAsInt() != mtu)
                            .map(each -> each.name() + " (" + each.mtu().getAsInt() + ")")
                            .collect(Collectors.joining(", "));
                    if (!interfaces.isEmpty()) {
                        lagging.put(nic.address(), "The MTU is not " + mtu + " yet on " + interfaces);
                    }
                }
            }
        }
        return lagging;
    }

    /** Records that a NIC waits for something, unless the NIC has another problem. */
    void await(PciAddress nic, String message) {
        states.putIfAbsent(nic, ProvisioningState.WAITING);
        explain(nic, message);
    }

    /** Records a message about a NIC, unless there is one already. */
    void explain(PciAddress nic, String message) {
        messages.putIfAbsent(nic, message);
    }
}
