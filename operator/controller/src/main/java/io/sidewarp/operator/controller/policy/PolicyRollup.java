// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.network.NetworkState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The state of a policy, from that of the nodes. Depends on nothing but its arguments. */
final class PolicyRollup {
    private static final int NAMED_NODES = 3;

    private PolicyRollup() {}

    /**
     * Sums up.
     *
     * @param name name of the policy
     * @param generation its generation
     * @param former conditions that it has now
     * @param nodes all nodes
     * @param labelled how many Linux nodes have the labels of its selector, also those not told yet
     * @param network what became of the part that others carry out
     */
    static IwarpNicPolicyStatus of(
            String name,
            Long generation,
            List<StatusCondition> former,
            Collection<IwarpNode> nodes,
            int labelled,
            NetworkState network) {
        List<String> ready = new ArrayList<>();
        List<String> waiting = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        int nics = 0;
        List<IwarpNode> sorted = nodes.stream()
                .sorted(Comparator.comparing(node -> node.getMetadata().getName()))
                .toList();
        for (IwarpNode node : sorted) {
            if (!isNamed(name, node)) {
                continue;
            }
            String nodeName = node.getMetadata().getName();
            Optional<IwarpNodeStatus> status = Optional.ofNullable(node.getStatus());
            nics += status.map(found -> nicsOf(name, found)).orElse(0);
            if (status.isEmpty()) {
                silent.add(nodeName);
            } else if (!isTold(name, generation, node) || !isCurrent(node)) {
                waiting.add(nodeName);
            } else {
                switch (state(name, status.get())) {
                    case DONE -> ready.add(nodeName);
                    case WAITING -> waiting.add(nodeName);
                    case FAILED -> failed.add(nodeName + ": " + failure(name, status.get()));
                }
            }
        }
        int selected = ready.size() + waiting.size() + silent.size() + failed.size();
        String type;
        String reason;
        String message;
        if (network.problem().isPresent()) {
            type = StatusCondition.DEGRADED;
            reason = network.problem().get().reason();
            message = network.problem().get().message();
        } else if (!failed.isEmpty()) {
            type = StatusCondition.DEGRADED;
            reason = "NodesFailed";
            message = failed.size() + " of " + selected + " nodes failed: " + some(failed);
        } else if (!waiting.isEmpty() || !silent.isEmpty()) {
            type = StatusCondition.PROGRESSING;
            reason = waiting.isEmpty() ? "NoNodeAgent" : "NodesInProgress";
            message = ready.size() + " of " + selected + " nodes are ready"
                    + (waiting.isEmpty() ? "" : "; at work: " + some(waiting))
                    + (silent.isEmpty() ? "" : "; no node agent has reported from: " + some(silent));
        } else if (selected == 0 && labelled > 0) {
            type = StatusCondition.PROGRESSING;
            reason = "NodesInProgress";
            message = "the nodes are about to be told";
        } else if (selected == 0) {
            type = StatusCondition.PROGRESSING;
            reason = "NoNodes";
            message = "no Linux node has the labels of nodeSelector";
        } else {
            type = StatusCondition.READY;
            reason = "AllNodesReady";
            message = "all of " + selected + " nodes are ready";
        }
        return new IwarpNicPolicyStatus(
                generation,
                selected,
                ready.size(),
                nics,
                network.provisionedBy(),
                network.network().orElse(null),
                network.resourceName(),
                StatusCondition.of(former, type, reason, message, generation));
    }

    /**
     * Whether all nodes of a policy have told their NICs. One that does not within some time is taken for one without a node
     * agent.
     *
     * @param nodes all nodes
     * @param labelled how many Linux nodes have the labels of its selector, also those not told yet
     * @param patience how long a node that is told may take
     */
    static boolean isComplete(String name, Collection<IwarpNode> nodes, int labelled, Instant now, Duration patience) {
        List<IwarpNode> named =
                nodes.stream().filter(node -> isNamed(name, node)).toList();
        return named.size() >= labelled
                && named.stream()
                        .allMatch(node -> node.getStatus() != null
                                || Instant.parse(node.getMetadata().getCreationTimestamp())
                                        .plus(patience)
                                        .isBefore(now));
    }

    /**
     * The state of a policy that is deleted, while nodes may still have to restore NICs.
     *
     * @param former the status that it has now, if any
     * @param nodes all nodes
     * @param waiting what {@link #notRestored} gives
     */
    static IwarpNicPolicyStatus restoring(
            String name,
            Long generation,
            Optional<IwarpNicPolicyStatus> former,
            Collection<IwarpNode> nodes,
            List<String> waiting) {
        return new IwarpNicPolicyStatus(
                generation,
                (int) nodes.stream().filter(node -> isNamed(name, node)).count(),
                0,
                nodes.stream()
                        .filter(node -> node.getStatus() != null)
                        .mapToInt(node -> nicsOf(name, node.getStatus()))
                        .sum(),
                former.map(IwarpNicPolicyStatus::provisionedBy).orElse(null),
                null,
                former.map(IwarpNicPolicyStatus::resourceName).orElse(null),
                StatusCondition.of(
                        former.map(IwarpNicPolicyStatus::conditions).orElseGet(List::of),
                        StatusCondition.PROGRESSING,
                        "Restoring",
                        "waiting until " + waiting.size() + (waiting.size() == 1 ? " node has" : " nodes have")
                                + " restored the NICs, of which pods may use some: " + some(waiting),
                        generation));
    }

    /** Nodes that may still have to restore NICs of a policy that is deleted. */
    static List<String> notRestored(String name, Collection<IwarpNode> nodes) {
        return nodes.stream()
                .filter(node -> isNamed(name, node)
                        || (node.getStatus() != null && nicsOf(name, node.getStatus()) > 0)
                        || hasNicsToRestore(node)
                        || couldNotLook(node)
                        || (!isCurrent(node) && node.getStatus() != null))
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
    }

    /** Whether a NIC that no policy rules any more cannot be what it was before: pods use it, or a write failed. */
    private static boolean hasNicsToRestore(IwarpNode node) {
        return node.getStatus() != null
                && node.getStatus().nics().stream().anyMatch(nic -> nic.policy() == null && !isRestored(nic));
    }

    /** Node agents that tell no state have nothing else to say of a NIC that no policy rules. */
    private static boolean isRestored(NicStatus nic) {
        return nic.state() == null ? nic.message() == null : nic.state() == ProvisioningState.DONE;
    }

    /** Whether the node agent has seen what the node is asked for, and not what there is to restore. */
    private static boolean couldNotLook(IwarpNode node) {
        return Optional.ofNullable(node.getStatus())
                .flatMap(status -> condition(status, StatusCondition.DEGRADED))
                .filter(condition -> condition.reason().equals(IwarpNodeStatus.LOOK_FAILED))
                .isPresent();
    }

    private static boolean isNamed(String name, IwarpNode node) {
        return node.getSpec() != null
                && node.getSpec().policies().stream()
                        .anyMatch(policy -> policy.name().equals(name));
    }

    /** Whether a node that is named is asked for what the policy says now, and not for what it said before. */
    private static boolean isTold(String name, Long generation, IwarpNode node) {
        return node.getSpec().policies().stream()
                .anyMatch(policy -> policy.name().equals(name) && generation.equals(policy.generation()));
    }

    /** Whether the node agent has seen what the node is asked for. */
    private static boolean isCurrent(IwarpNode node) {
        return node.getStatus() != null
                && Objects.equals(
                        node.getStatus().observedGeneration(),
                        node.getMetadata().getGeneration());
    }

    /** How far a node is what a policy asks for, whatever it does for others. */
    private static ProvisioningState state(String policy, IwarpNodeStatus status) {
        if (status.nodeState() == null) {
            // Of a node agent that tells of the node as a whole.
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

    /** Why it is not: what its NICs say, or the node if that is at fault. */
    private static String failure(String policy, IwarpNodeStatus status) {
        Optional<String> ofNode = status.nodeState() == null || status.nodeState() == ProvisioningState.FAILED
                ? condition(status, StatusCondition.DEGRADED).map(StatusCondition::message)
                : Optional.empty();
        return ofNode.orElseGet(() -> status.nics().stream()
                .filter(nic -> policy.equals(nic.policy()) && nic.state() == ProvisioningState.FAILED)
                .map(nic -> nic.pciAddress() + ": " + nic.message())
                .collect(Collectors.joining("; ")));
    }

    private static int nicsOf(String policy, IwarpNodeStatus status) {
        return (int) status.nics().stream()
                .filter(nic -> policy.equals(nic.policy()))
                .count();
    }

    private static Optional<StatusCondition> condition(IwarpNodeStatus status, String type) {
        return status.conditions().stream()
                .filter(condition -> condition.type().equals(type) && condition.holds())
                .findFirst();
    }

    private static String some(List<String> all) {
        String named = String.join("; ", all.subList(0, Math.min(all.size(), NAMED_NODES)));
        return all.size() <= NAMED_NODES ? named : named + "; and " + (all.size() - NAMED_NODES) + " more";
    }
}
