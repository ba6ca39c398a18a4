// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.e2e.support.Patience;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Pods of users, in a namespace of their own. Each pod has one container, {@code app}, which runs the command {@code
 * sidewarp}.
 */
final class Applications {
    private static final String SIDECAR = "sidewarp";
    private static final String PINGS = "ping, --listen, '0.0.0.0:7471'";

    private final TestCluster cluster;

    Applications(TestCluster cluster) {
        this.cluster = cluster;
    }

    private NonNamespaceOperation<Pod, PodList, PodResource> pods() {
        MixedOperation<Pod, PodList, PodResource> all = cluster.client().pods();
        return all.inNamespace(TestCluster.APPLICATIONS);
    }

    /** Creates a pod that answers pings. */
    Pod create(String name, String annotations) {
        return create(name, annotations, PINGS);
    }

    Pod create(String name, String annotations, String arguments) {
        return pods().resource(pod(name, annotations, arguments)).create();
    }

    /** Creates a pod that answers pings, whose container has further fields. */
    Pod createWith(String name, String annotations, String fields) {
        return pods().resource(pod(name, annotations, PINGS, fields)).create();
    }

    /** Creates a pod of a service account, which answers pings. */
    Pod createAs(String account, String name, String annotations) {
        Pod pod = pod(name, annotations, PINGS);
        pod.getSpec().setServiceAccountName(account);
        return pods().resource(pod).create();
    }

    /** Returns the template of pods, for a controller: a container with some arguments. */
    String template(String name, String arguments, String restartPolicy) {
        return "{metadata: {labels: {app: " + name + "}}, spec: {restartPolicy: " + restartPolicy
                + ", terminationGracePeriodSeconds: 1, " + containers(arguments, "") + "}}";
    }

    /** Returns the pod that would be created, from a dry run. */
    Pod dryRun() {
        return dryRunWith("");
    }

    /** Returns the pod that would be created, whose container has further fields. */
    Pod dryRunWith(String fields) {
        return pods().resource(pod("dry", "", PINGS, fields)).dryRun().create();
    }

    /** Returns the pods with a label {@code app}. */
    List<Pod> of(String app) {
        return pods().withLabel("app", app).list().getItems();
    }

    void delete(String name) {
        pods().withName(name).delete();
    }

    Pod get(String name) {
        return pods().withName(name).get();
    }

    Pod awaitReady(String name) {
        return pods().withName(name).waitUntilReady(Patience.LONG_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private Pod pod(String name, String annotations, String arguments) {
        return pod(name, annotations, arguments, "");
    }

    private Pod pod(String name, String annotations, String arguments, String fields) {
        return Serialization.unmarshal(
                "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", annotations: {" + annotations
                        + "}}, spec: {terminationGracePeriodSeconds: 1, " + containers(arguments, fields) + "}}",
                Pod.class);
    }

    private String containers(String arguments, String fields) {
        return "containers: [{name: app, image: '" + cluster.applicationImage()
                + "', command: [sidewarp, --wait-ready, 60s, " + arguments + "], " + fields
                + " volumeMounts: [{name: tmp, mountPath: /tmp}]}], volumes: [{name: tmp, emptyDir: {}}]";
    }

    /** Returns the log of a pod's sidecar. */
    String sidecarLog(String pod) {
        return pods().withName(pod).inContainer(SIDECAR).getLog();
    }

    /** Runs a command in the application's container of a pod; it has to end with this exit status. */
    String exec(String pod, String command, int expected) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (ExecWatch watch = pods().withName(pod)
                .inContainer("app")
                .writingOutput(output)
                .writingError(output)
                .exec(command.split(" ", -1))) {
            int status = Patience.get(watch.exitCode());
            String text = output.toString(StandardCharsets.UTF_8);
            assertThat(status).as(text).isEqualTo(expected);
            return text;
        }
    }

    /** Measures from the API server's answer to a pod's creation until the pod's status reports a ready sidecar. */
    long millisFromAdmissionToReadySidecar(String name) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        AtomicLong at = new AtomicLong();
        try (SharedIndexInformer<Pod> watch = pods().withName(name).inform(new WhenReady(() -> {
            at.compareAndSet(0, System.nanoTime());
            ready.countDown();
        }))) {
            create(name, "");
            long admitted = System.nanoTime();
            assertThat(ready.await(Patience.LONG_LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("sidecar of %s in %s", name, watch)
                    .isTrue();
            return TimeUnit.NANOSECONDS.toMillis(at.get() - admitted);
        } finally {
            pods().withName(name).delete();
        }
    }

    /** Runs an action when the sidecar of a pod is ready. */
    private record WhenReady(Runnable action) implements ResourceEventHandler<Pod> {
        @Override
        public void onAdd(Pod pod) {
            look(pod);
        }

        @Override
        public void onUpdate(Pod before, Pod pod) {
            look(pod);
        }

        @Override
        public void onDelete(Pod pod, boolean finalStateUnknown) {
            // The sidecar was ready before.
        }

        private void look(Pod pod) {
            boolean ready = Stream.concat(
                            pod.getStatus().getContainerStatuses().stream(),
                            pod.getStatus().getInitContainerStatuses().stream())
                    .anyMatch(status -> status.getName().equals(SIDECAR) && status.getReady());
            if (ready) {
                action.run();
            }
        }
    }

    /** The container that was injected. */
    static Container sidecar(Pod pod) {
        return all(pod).filter(container -> container.getName().equals(SIDECAR))
                .findFirst()
                .orElseThrow();
    }

    /** Returns whether the sidecar of a pod is a native sidecar. */
    static boolean isNative(Pod pod) {
        return pod.getSpec().getInitContainers().stream()
                .anyMatch(container -> container.getName().equals(SIDECAR));
    }

    /** Returns the status of the sidecar of a pod. */
    static ContainerStatus sidecarStatus(Pod pod) {
        return Stream.concat(
                        pod.getStatus().getInitContainerStatuses().stream(),
                        pod.getStatus().getContainerStatuses().stream())
                .filter(status -> status.getName().equals(SIDECAR))
                .findFirst()
                .orElseThrow(() ->
                        new AssertionError("pod " + pod.getMetadata().getName() + " has no status of a sidecar yet"));
    }

    /** Names of all containers of a pod. */
    static List<String> containers(Pod pod) {
        return all(pod).map(Container::getName).toList();
    }

    private static Stream<Container> all(Pod pod) {
        return Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream());
    }
}
