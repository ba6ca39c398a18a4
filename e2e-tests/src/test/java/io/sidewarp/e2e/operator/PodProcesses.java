// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import io.fabric8.kubernetes.api.model.Binding;
import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.operator.testing.KubeApiServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Stand-in for the scheduler and the kubelets in one namespace. Assigns a node to each pod, and starts a process for
 * its first container. The process has the environment of its specification and the identity of its service account.
 * Probes the process, restarts an ended process, writes the pod's status, and ends the process when the pod is deleted.
 * Changes only what a process cannot have: ports, and paths of the node.
 */
final class PodProcesses implements AutoCloseable {

    /** Selects the program to run for a container. */
    interface Programs {
        /**
         * The command of a pod.
         *
         * @param environment may be changed
         * @return what to run; empty for pods that need not run
         */
        Optional<Program> of(Pod pod, Container container, Map<String, String> environment);
    }

    /**
     * A program that runs for a pod.
     *
     * @param readiness URI of its health check; empty if the program has none
     * @param port target port of a Service in front of it, 0 for none
     */
    record Program(List<String> command, Optional<URI> readiness, int port) {}

    private record Running(OwnedProcess process, Program program, AtomicBoolean ready) {}

    private static final Duration PROBE_PERIOD = Duration.ofMillis(500);

    private final KubernetesClient client;
    private final KubeApiServer server;
    private final String namespace;
    private final String defaultNode;
    private final Programs programs;
    private final Map<String, Running> running = new ConcurrentHashMap<>();
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("pods as processes").factory());
    private final HttpClient probe =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    private final SharedIndexInformer<Pod> informer;

    PodProcesses(KubeApiServer server, String namespace, String defaultNode, Programs programs) {
        this.server = server;
        this.client = server.client();
        this.namespace = namespace;
        this.defaultNode = defaultNode;
        this.programs = programs;
        informer = client.pods().inNamespace(namespace).inform(new ResourceEventHandler<>() {
            @Override
            public void onAdd(Pod pod) {
                submit(pod.getMetadata().getName());
            }

            @Override
            public void onUpdate(Pod former, Pod pod) {
                submit(pod.getMetadata().getName());
            }

            @Override
            public void onDelete(Pod pod, boolean finalStateUnknown) {
                submit(pod.getMetadata().getName());
            }
        });
        worker.scheduleWithFixedDelay(
                () -> running.keySet().forEach(this::syncSafely),
                PROBE_PERIOD.toMillis(),
                PROBE_PERIOD.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** The processes of pods whose names begin so. */
    List<OwnedProcess> processes(String prefix) {
        return running.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(prefix))
                .map(entry -> entry.getValue().process())
                .toList();
    }

    /** Ports of pods whose names begin so and that tell that they are ready; those that began last come first. */
    List<Integer> readyPorts(String prefix) {
        return running.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(prefix)
                        && entry.getValue().ready().get())
                .sorted(Comparator.comparing(entry -> entry.getValue().process().pid(), Comparator.reverseOrder()))
                .map(entry -> entry.getValue().program().port())
                .toList();
    }

    private void submit(String name) {
        if (!worker.isShutdown()) {
            worker.execute(() -> syncSafely(name));
        }
    }

    private void syncSafely(String name) {
        try {
            sync(name);
        } catch (KubernetesClientException | IOException e) {
            // The API server is away, or the pod has changed meanwhile: it is looked at again.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void sync(String name) throws IOException, InterruptedException {
        Pod pod = client.pods().inNamespace(namespace).withName(name).get();
        Running present = running.get(name);
        if (pod == null || pod.isMarkedForDeletion()) {
            if (present != null) {
                present.process().terminate();
                present.process().awaitExit(Patience.LIMIT);
                running.remove(name);
            }
            if (pod != null) {
                client.pods()
                        .inNamespace(namespace)
                        .withName(name)
                        .withGracePeriod(0)
                        .delete();
            }
            return;
        }
        if (pod.getSpec().getNodeName() == null || pod.getSpec().getNodeName().isEmpty()) {
            bind(pod);
        } else if (present == null && !isOver(pod)) {
            start(pod);
        } else if (present != null) {
            report(pod, present);
        }
    }

    private static boolean isOver(Pod pod) {
        String phase = pod.getStatus() == null ? "" : pod.getStatus().getPhase();
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    /** A DaemonSet's pods name their node by affinity. */
    private void bind(Pod pod) {
        String node = Optional.ofNullable(pod.getSpec().getAffinity())
                .map(affinity -> affinity.getNodeAffinity())
                .map(affinity -> affinity.getRequiredDuringSchedulingIgnoredDuringExecution())
                .flatMap(selector -> selector.getNodeSelectorTerms().stream()
                        .flatMap(term -> term.getMatchFields().stream())
                        .flatMap(field -> field.getValues().stream())
                        .findFirst())
                .orElse(defaultNode);
        Binding binding = new BindingBuilder()
                .withNewMetadata()
                .withName(pod.getMetadata().getName())
                .withNamespace(namespace)
                .endMetadata()
                .withNewTarget()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node)
                .endTarget()
                .build();
        client.bindings().inNamespace(namespace).resource(binding).create();
    }

    private void start(Pod pod) {
        Container container = pod.getSpec().getContainers().getFirst();
        Map<String, String> environment = new LinkedHashMap<>();
        for (EnvVar variable : container.getEnv()) {
            environment.put(variable.getName(), valueOf(variable, pod));
        }
        Optional<Program> program = programs.of(pod, container, environment);
        if (program.isPresent()) {
            environment.put("KUBECONFIG", server.kubeconfigForPod(pod).toString());
            running.put(
                    pod.getMetadata().getName(),
                    new Running(
                            OwnedProcess.start(
                                    pod.getMetadata().getName(),
                                    program.get().command(),
                                    environment,
                                    io.sidewarp.e2e.support.Programs.output()),
                            program.get(),
                            new AtomicBoolean()));
        }
    }

    private static String valueOf(EnvVar variable, Pod pod) {
        if (variable.getValue() != null || variable.getValueFrom() == null) {
            return Optional.ofNullable(variable.getValue()).orElse("");
        }
        String path = variable.getValueFrom().getFieldRef().getFieldPath();
        return switch (path) {
            case "spec.nodeName" -> pod.getSpec().getNodeName();
            case "metadata.name" -> pod.getMetadata().getName();
            case "metadata.namespace" -> pod.getMetadata().getNamespace();
            default -> throw new IllegalArgumentException("a kubelet knows more fields than " + path);
        };
    }

    private void report(Pod pod, Running present) throws IOException, InterruptedException {
        String phase = "Running";
        boolean ready = false;
        if (!present.process().isAlive()) {
            if (!"Never".equals(pod.getSpec().getRestartPolicy())) {
                start(pod);
                return;
            }
            phase = present.process().awaitExit(Patience.LIMIT) == 0 ? "Succeeded" : "Failed";
            running.remove(pod.getMetadata().getName());
        } else {
            ready = isReady(present.program());
            present.ready().set(ready);
        }
        String status = ready ? "True" : "False";
        boolean same = pod.getStatus() != null
                && phase.equals(pod.getStatus().getPhase())
                && pod.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Ready")
                                && condition.getStatus().equals(status));
        if (same) {
            return;
        }
        String now = Instant.now().toString();
        boolean containerReady = ready;
        Pod reported = new PodBuilder(pod)
                .withNewStatus()
                .withPhase(phase)
                .withStartTime(now)
                .addNewCondition()
                .withType("Ready")
                .withStatus(status)
                .withLastTransitionTime(now)
                .endCondition()
                .withContainerStatuses(Stream.of(pod.getSpec().getContainers().getFirst())
                        .map(container -> new ContainerStatusBuilder()
                                .withName(container.getName())
                                .withImage(container.getImage())
                                .withImageID(container.getImage())
                                .withReady(containerReady)
                                .withRestartCount(0)
                                .build())
                        .toList())
                .endStatus()
                .build();
        client.pods().inNamespace(namespace).resource(reported).updateStatus();
    }

    private boolean isReady(Program program) throws InterruptedException {
        if (program.readiness().isEmpty()) {
            return true;
        }
        try {
            return probe.send(
                                    HttpRequest.newBuilder(program.readiness().get())
                                            .timeout(Duration.ofSeconds(3))
                                            .build(),
                                    BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        worker.shutdownNow();
        informer.close();
        running.values().forEach(each -> each.process().close());
    }
}
