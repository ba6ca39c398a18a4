// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.v1alpha1.PodEviction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Asks the API server about pods that the kubelet names. Kubelets before 1.34 list the devices of ended pods until the
 * pods are deleted or another pod needs the devices. A pod whose state is unknown has not ended. Not thread-safe.
 */
final class NodePods {
    private static final Logger LOG = Logger.getLogger(NodePods.class);
    private static final Set<String> TERMINAL_PHASES = Set.of("Succeeded", "Failed");

    private final KubernetesClient client;
    private final String node;
    private final Set<String> inUse = new HashSet<>();
    private final Duration memory;
    private boolean apiServerAway;
    private long rememberedSince = System.nanoTime();

    /**
     * Makes an object that has asked nothing yet.
     *
     * @param node name of this node; a pod of the same name on another node proves nothing
     * @param memory time during which a pod that runs, or an API server that is away, is not asked again
     */
    NodePods(KubernetesClient client, String node, Duration memory) {
        this.client = client;
        this.node = node;
        this.memory = memory;
    }

    /**
     * Returns whether a pod has ended, so that its devices may change.
     *
     * @param name namespace/name; anything else, such as the name of a claim, is not a pod and has not ended
     */
    boolean hasEnded(String name) {
        if (System.nanoTime() - rememberedSince >= memory.toNanos()) {
            inUse.clear();
            apiServerAway = false;
            rememberedSince = System.nanoTime();
        }
        Matcher pod = NicDrain.POD.matcher(name);
        if (apiServerAway || !pod.matches() || inUse.contains(name)) {
            return false;
        }
        try {
            boolean ended = Optional.ofNullable(client.pods()
                            .inNamespace(pod.group(1))
                            .withName(pod.group(2))
                            .get())
                    .filter(this::hasEnded)
                    .isPresent();
            if (!ended) {
                inUse.add(name);
            }
            return ended;
        } catch (KubernetesClientException e) {
            // One wait for an API server that is away is enough for one look, however many pods are asked about.
            apiServerAway = true;
            rememberedSince = System.nanoTime();
            LOG.warnf("event=pod-state-unknown pod=%s cause=%s", LogText.quoted(name), LogText.quoted(e.getMessage()));
            return false;
        }
    }

    /**
     * Returns the pods to evict with their UIDs. Leaves out pods that are unknown, or that are not of this node any
     * more.
     */
    List<PodEviction> evictions(List<NicDrain.Request> requests) {
        List<PodEviction> evictions = new ArrayList<>();
        for (NicDrain.Request request : requests) {
            try {
                Pod pod = client.pods()
                        .inNamespace(request.namespace())
                        .withName(request.name())
                        .get();
                if (pod != null && node.equals(pod.getSpec().getNodeName())) {
                    evictions.add(new PodEviction(
                            request.namespace(),
                            request.name(),
                            pod.getMetadata().getUid(),
                            request.nic()));
                }
            } catch (KubernetesClientException e) {
                // The next look asks again.
                LOG.warnf(
                        "event=pod-state-unknown pod=%s/%s cause=%s",
                        request.namespace(), request.name(), LogText.quoted(e.getMessage()));
                return evictions;
            }
        }
        return evictions;
    }

    private boolean hasEnded(Pod pod) {
        PodStatus status = pod.getStatus();
        return status != null
                && TERMINAL_PHASES.contains(String.valueOf(status.getPhase()))
                && node.equals(pod.getSpec().getNodeName())
                // The kubelet reports an evicted pod as Failed before the containers have stopped.
                && Stream.of(
                                status.getInitContainerStatuses(),
                                status.getContainerStatuses(),
                                status.getEphemeralContainerStatuses())
                        .flatMap(List::stream)
                        .noneMatch(NodePods::isRunning);
    }

    private static boolean isRunning(ContainerStatus status) {
        return status.getState() != null && status.getState().getRunning() != null;
    }
}
