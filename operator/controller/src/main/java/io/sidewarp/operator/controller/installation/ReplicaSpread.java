// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.LeaderElection;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Moves a replica of the controller if replicas share a node, as after a drain, and another node is free for it. The
 * scheduler places the new replica there, because the chart spreads replicas over nodes. Not thread-safe.
 */
final class ReplicaSpread {
    private static final Logger LOG = Logger.getLogger(ReplicaSpread.class);

    /** Minimum time between two moves. The scheduler can know a reason against a node that is not visible here. */
    private static final Duration PAUSE = Duration.ofMinutes(5);

    private static final Set<String> HARD_EFFECTS = Set.of("NoSchedule", "NoExecute");

    private final OperatorConfig config;
    private final Supplier<Stream<Node>> nodes;
    private final EventRecorder events;
    private final String self;
    private Instant last = Instant.MIN;

    /**
     * @param nodes all nodes, with labels, readiness and taints
     * @param self name of the pod of this replica, which is not moved
     */
    ReplicaSpread(OperatorConfig config, Supplier<Stream<Node>> nodes, EventRecorder events, String self) {
        this.config = config;
        this.nodes = nodes;
        this.events = events;
        this.self = self;
    }

    /** Evicts one replica if that helps. Returns whether a replica was evicted. */
    boolean check(KubernetesClient client, Instant now) {
        if (last.isAfter(now.minus(PAUSE))) {
            return false;
        }
        List<Pod> replicas = LeaderElection.replicas(client, config);
        if (!replicas.stream().allMatch(Readiness::isPodReady)) {
            // A replica starts: after an upgrade, or because of a move.
            return false;
        }
        Map<String, List<Pod>> byNode = replicas.stream()
                .collect(Collectors.groupingBy(pod -> pod.getSpec().getNodeName()));
        return byNode.values().stream()
                .filter(sharing -> sharing.size() > 1)
                .flatMap(List::stream)
                .filter(pod -> !pod.getMetadata().getName().equals(self))
                .anyMatch(pod -> freeNode(pod, byNode.keySet()).isPresent() && move(client, pod, now));
    }

    private boolean move(KubernetesClient client, Pod pod, Instant now) {
        String name = pod.getMetadata().getName();
        String node = pod.getSpec().getNodeName();
        if (!client.pods().inNamespace(config.namespace()).withName(name).evict()) {
            LOG.infof("event=replica-not-moved pod=%s node=%s reason=\"its PodDisruptionBudget\"", name, node);
            return false;
        }
        last = now;
        LOG.infof("event=replica-moved pod=%s node=%s reason=\"replicas share the node\"", name, node);
        events.inform(
                pod,
                "ReplicaMoved",
                "Replicas of the controller share node " + node
                        + ", and another node is free. The pod is evicted, so that a new one starts there.");
        return true;
    }

    private Optional<Node> freeNode(Pod pod, Set<String> used) {
        if (hasRequiredAffinity(pod)) {
            return Optional.empty();
        }
        Map<String, String> selector =
                Objects.requireNonNullElse(pod.getSpec().getNodeSelector(), Map.<String, String>of());
        return nodes.get()
                .filter(node -> !used.contains(node.getMetadata().getName()))
                .filter(node -> NodeStates.matches(NodeStates.labels(node), selector))
                .filter(node -> NodeStates.readiness(node)
                        .filter(condition -> condition.getStatus().equals("True"))
                        .isPresent())
                .filter(node -> !Boolean.TRUE.equals(node.getSpec().getUnschedulable()))
                .filter(node -> node.getSpec().getTaints().stream()
                        .allMatch(taint -> isTolerated(taint, pod.getSpec().getTolerations())))
                .findFirst();
    }

    /** Returns whether the pod has rules for nodes that are not evaluated here. Such a pod is never moved. */
    private static boolean hasRequiredAffinity(Pod pod) {
        return pod.getSpec().getAffinity() != null
                && pod.getSpec().getAffinity().getNodeAffinity() != null
                && pod.getSpec().getAffinity().getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution()
                        != null;
    }

    private static boolean isTolerated(Taint taint, List<Toleration> tolerations) {
        return !HARD_EFFECTS.contains(taint.getEffect())
                || tolerations.stream().anyMatch(toleration -> tolerates(toleration, taint));
    }

    private static boolean tolerates(Toleration toleration, Taint taint) {
        boolean anyValue = "Exists".equals(toleration.getOperator());
        return (isEmpty(toleration.getEffect()) || toleration.getEffect().equals(taint.getEffect()))
                && (isEmpty(toleration.getKey())
                        ? anyValue
                        : toleration.getKey().equals(taint.getKey()))
                && (anyValue
                        || Objects.requireNonNullElse(toleration.getValue(), "")
                                .equals(Objects.requireNonNullElse(taint.getValue(), "")));
    }

    private static boolean isEmpty(@Nullable String text) {
        return text == null || text.isEmpty();
    }
}
