// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;

/** Pods of the node agents. */
@ApplicationScoped
public class AgentPods {
    private static final Duration VALIDITY = Duration.ofSeconds(5);

    private final KubernetesClient client;
    private final OperatorConfig config;
    private Optional<String> answer = Optional.empty();
    /** Time of the answer by a monotonic clock, in nanoseconds, or 0 for none. */
    private long answered;

    public AgentPods(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /**
     * Returns why the API server refuses pods of the node agents, for instance because of Pod Security or a quota.
     * Nodes share an answer for some seconds, because many nodes can ask at once.
     */
    public synchronized Optional<String> refusal() {
        long now = System.nanoTime();
        if (answered == 0 || now - answered > VALIDITY.toNanos()) {
            answer = client
                    .apps()
                    .daemonSets()
                    .inNamespace(config.namespace())
                    .withLabel(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                    .list()
                    .getItems()
                    .stream()
                    .filter(AgentPods::lacksPods)
                    .findFirst()
                    .flatMap(this::refusal);
            answered = now;
        }
        return answer;
    }

    /** Old versions of Kubernetes do not write the status of a new DaemonSet whose pods are refused. */
    private static boolean lacksPods(DaemonSet agents) {
        DaemonSetStatus status = agents.getStatus();
        return status == null
                || !agents.getMetadata().getGeneration().equals(status.getObservedGeneration())
                || status.getDesiredNumberScheduled() > status.getCurrentNumberScheduled();
    }

    private Optional<String> refusal(DaemonSet agents) {
        String name = agents.getMetadata().getName();
        return client
                .v1()
                .events()
                .inNamespace(config.namespace())
                .withField("involvedObject.name", name)
                .withField("reason", "FailedCreate")
                .list()
                .getItems()
                .stream()
                .filter(event -> event.getInvolvedObject().getKind().equals("DaemonSet"))
                .max(Comparator.comparing(Event::getLastTimestamp, Comparator.nullsFirst(Comparator.naturalOrder())))
                .map(event -> "DaemonSet " + name + " cannot create node agents. " + event.getMessage()
                        + (event.getMessage().contains("PodSecurity")
                                ? " Label namespace " + config.namespace()
                                        + " with pod-security.kubernetes.io/enforce=privileged."
                                : ""));
    }
}
