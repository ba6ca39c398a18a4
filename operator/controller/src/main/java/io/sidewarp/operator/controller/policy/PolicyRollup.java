// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.StatusCondition.State;
import io.sidewarp.operator.controller.network.NetworkState;
import io.sidewarp.operator.controller.network.NetworkState.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Derives the state of a policy from the states of the nodes. Depends on nothing but its arguments. */
final class PolicyRollup {
    private static final int NAMED_NODES = 3;

    private PolicyRollup() {}

    /**
     * Derives the status of a policy.
     *
     * @param name name of the policy
     * @param generation generation of the policy
     * @param former present conditions of the policy
     * @param nodes all nodes
     * @param labelled number of Linux nodes with the labels of the selector, also without an IwarpNode yet
     * @param network state of the part that other operators carry out
     */
    static IwarpNicPolicyStatus of(
            String name,
            Long generation,
            List<StatusCondition> former,
            Collection<IwarpNode> nodes,
            int labelled,
            NetworkState network) {
        List<IwarpNode> named = naming(name, nodes);
        int ready = 0;
        List<String> waiting = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        // Nodes by the problem of their agents, since one problem can concern many nodes.
        Map<StatusCondition, List<String>> away = new LinkedHashMap<>();
        int nics = 0;
        for (IwarpNode node : named) {
            String nodeName = node.getMetadata().getName();
            Optional<IwarpNodeStatus> status = node.reported();
            Optional<StatusCondition> absence = node.agentReporting().filter(condition -> !condition.holds());
            nics += nicsOf(name, node);
            if (absence.isPresent()) {
                away.computeIfAbsent(withoutTime(absence.get()), _ -> new ArrayList<>())
                        .add(nodeName);
            } else if (status.isEmpty()) {
                silent.add(nodeName);
            } else if (!isTold(name, generation, node) || !isCurrent(node)) {
                waiting.add(nodeName);
            } else {
                switch (state(name, status.get())) {
                    case DONE -> ready++;
                    case WAITING -> waiting.add(nodeName);
                    case FAILED -> failed.add(nodeName + ": " + failure(name, status.get()));
                }
            }
        }
        int selected = named.size();
        State state;
        if (network.problem().isPresent()) {
            Problem problem = network.problem().get();
            state = new State(StatusCondition.DEGRADED, problem.reason(), problem.message());
        } else if (!failed.isEmpty()) {
            String message = failed.size() + " of " + counted(selected) + " failed. " + some(failed, " | ");
            state = new State(StatusCondition.DEGRADED, "NodesFailed", message);
        } else if (ready < selected) {
            String message =
                    ready + " of " + counted(selected) + (ready == 1 || selected == 1 ? " is" : " are") + " ready."
                            + (waiting.isEmpty() ? "" : " In progress: " + some(waiting, ", ") + ".")
                            + (silent.isEmpty() ? "" : " No node agent has reported yet: " + some(silent, ", ") + ".")
                            + away.entrySet().stream()
                                    .limit(NAMED_NODES)
                                    .map(entry -> " " + some(entry.getValue(), ", ") + ": "
                                            + entry.getKey().message())
                                    .collect(Collectors.joining());
            String absence = away.isEmpty()
                    ? "NoNodeAgent"
                    : away.keySet().iterator().next().reason();
            state = progressing(waiting.isEmpty() ? absence : "NodesInProgress", message);
        } else if (selected == 0) {
            state = labelled > 0
                    ? progressing("NodesInProgress", "The nodes have not received the policy yet.")
                    : progressing("NoNodes", "No Linux node has the labels of nodeSelector.");
        } else if (nics == 0) {
            state = progressing("NoNicSelected", NearMatches.message(name, named));
        } else {
            state = new State(
                    StatusCondition.READY,
                    "AllNodesReady",
                    selected == 1 ? "The selected node is ready." : "All " + selected + " selected nodes are ready.");
        }
        return new IwarpNicPolicyStatus(
                generation,
                selected,
                ready,
                nics,
                network.provisionedBy(),
                network.network().orElse(null),
                network.resourceName(),
                StatusCondition.of(former, state, generation));
    }

    private static String counted(int nodes) {
        return nodes + (nodes == 1 ? " node" : " nodes");
    }

    private static StatusCondition withoutTime(StatusCondition condition) {
        return new StatusCondition(
                condition.type(), condition.status(), condition.reason(), condition.message(), "", null);
    }

    private static State progressing(String reason, String message) {
        return new State(StatusCondition.PROGRESSING, reason, message);
    }

    /**
     * Returns whether all nodes of a policy have reported their NICs. A node that does not report for some time counts
     * as a node without an agent.
     *
     * @param nodes all nodes
     * @param labelled number of Linux nodes with the labels of the selector, also without an IwarpNode yet
     * @param patience time for a node to report after its IwarpNode is created
     */
    static boolean isComplete(String name, Collection<IwarpNode> nodes, int labelled, Instant now, Duration patience) {
        List<IwarpNode> named = naming(name, nodes);
        return named.size() >= labelled
                && named.stream()
                        .allMatch(node -> node.reported().isPresent()
                                || Instant.parse(node.getMetadata().getCreationTimestamp())
                                        .plus(patience)
                                        .isBefore(now));
    }

    /**
     * Returns the status of a deleted policy while nodes may still have to restore NICs.
     *
     * @param former the present status, if any
     * @param nodes all nodes
     * @param waiting result of {@link #notRestored}
     */
    static IwarpNicPolicyStatus restoring(
            String name,
            Long generation,
            Optional<IwarpNicPolicyStatus> former,
            Collection<IwarpNode> nodes,
            List<String> waiting) {
        String message = counted(waiting.size())
                + (waiting.size() == 1 ? " has not restored its NICs yet: " : " have not restored their NICs yet: ")
                + some(waiting, ", ") + ". Pods may still use the NICs.";
        return new IwarpNicPolicyStatus(
                generation,
                naming(name, nodes).size(),
                0,
                nodes.stream().mapToInt(node -> nicsOf(name, node)).sum(),
                former.map(IwarpNicPolicyStatus::provisionedBy).orElse(null),
                null,
                former.map(IwarpNicPolicyStatus::resourceName).orElse(null),
                StatusCondition.of(
                        former.map(IwarpNicPolicyStatus::conditions).orElseGet(List::of),
                        progressing("Restoring", message),
                        generation));
    }

    /** Returns the nodes that may still have to restore NICs of a deleted policy. */
    static List<String> notRestored(String name, Collection<IwarpNode> nodes) {
        return nodes.stream()
                .filter(node -> isNamed(name, node)
                        || nicsOf(name, node) > 0
                        || hasNicsToRestore(node)
                        || couldNotLook(node)
                        || (!isCurrent(node) && node.reported().isPresent()))
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
    }

    /**
     * Returns whether the node has a NIC without a policy that is not restored yet, because pods use it or a write
     * failed.
     */
    private static boolean hasNicsToRestore(IwarpNode node) {
        return node.getStatus() != null
                && node.getStatus().nics().stream().anyMatch(nic -> nic.policy() == null && !isRestored(nic));
    }

    /**
     * Returns whether a NIC without a policy is restored. For node agents that report no state, a message means that
     * the NIC is not restored.
     */
    private static boolean isRestored(NicStatus nic) {
        return nic.state() == null ? nic.message() == null : nic.state() == ProvisioningState.DONE;
    }

    /** Returns whether the node agent has seen the desired state, but could not inspect what it must restore. */
    private static boolean couldNotLook(IwarpNode node) {
        return Optional.ofNullable(node.getStatus())
                .flatMap(status -> condition(status, StatusCondition.DEGRADED))
                .filter(condition -> condition.reason().equals(IwarpNodeStatus.LOOK_FAILED))
                .isPresent();
    }

    /** Returns the nodes whose specification names a policy, by their names. */
    private static List<IwarpNode> naming(String name, Collection<IwarpNode> nodes) {
        return nodes.stream()
                .filter(node -> isNamed(name, node))
                .sorted(Comparator.comparing(node -> node.getMetadata().getName()))
                .toList();
    }

    private static boolean isNamed(String name, IwarpNode node) {
        return node.getSpec() != null
                && node.getSpec().policies().stream()
                        .anyMatch(policy -> policy.name().equals(name));
    }

    /** Returns whether a node that the policy selects has the present generation of the policy in its specification. */
    private static boolean isTold(String name, Long generation, IwarpNode node) {
        return node.getSpec().policies().stream()
                .anyMatch(policy -> policy.name().equals(name) && generation.equals(policy.generation()));
    }

    /** Returns whether the node agent has seen the desired state of the node. */
    private static boolean isCurrent(IwarpNode node) {
        return node.getStatus() != null
                && Objects.equals(
                        node.getStatus().observedGeneration(),
                        node.getMetadata().getGeneration());
    }

    /** Returns how far a node has carried out one policy, independent of other policies. */
    private static ProvisioningState state(String policy, IwarpNodeStatus status) {
        if (status.nodeState() == null) {
            // This node agent reports only the state of the whole node.
            return condition(status, StatusCondition.READY).isPresent()
                    ? ProvisioningState.DONE
                    : condition(status, StatusCondition.DEGRADED).isPresent()
                            ? ProvisioningState.FAILED
                            : ProvisioningState.WAITING;
        }
        return Stream.concat(
                        Stream.of(status.nodeState()),
                        status.nics().stream()
                                .filter(nic -> policy.equals(nic.policy()))
                                .map(NicStatus::state)
                                .flatMap(Stream::ofNullable))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * Returns the cause of a failure: the message of the node if the node failed, otherwise the messages of its NICs.
     */
    private static String failure(String policy, IwarpNodeStatus status) {
        Optional<String> ofNode = status.nodeState() == null || status.nodeState() == ProvisioningState.FAILED
                ? condition(status, StatusCondition.DEGRADED).map(StatusCondition::message)
                : Optional.empty();
        return ofNode.orElseGet(() -> status.nics().stream()
                .filter(nic -> policy.equals(nic.policy()) && nic.state() == ProvisioningState.FAILED)
                .map(nic -> nic.pciAddress() + ": " + nic.message())
                .collect(Collectors.joining("; ")));
    }

    private static int nicsOf(String policy, IwarpNode node) {
        return (int) Stream.ofNullable(node.getStatus())
                .flatMap(status -> status.nics().stream())
                .filter(nic -> policy.equals(nic.policy()))
                .count();
    }

    private static Optional<StatusCondition> condition(IwarpNodeStatus status, String type) {
        return status.conditions().stream()
                .filter(condition -> condition.type().equals(type) && condition.holds())
                .findFirst();
    }

    private static String some(List<String> all, String separator) {
        String named = String.join(separator, all.subList(0, Math.min(all.size(), NAMED_NODES)));
        return all.size() <= NAMED_NODES ? named : named + separator + (all.size() - NAMED_NODES) + " more";
    }
}
