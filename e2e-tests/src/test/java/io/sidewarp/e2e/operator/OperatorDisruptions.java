// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Tests the steps 12 to 17 of {@link OperatorIT}, which disturb pods and nodes, or restrict their namespace. */
abstract class OperatorDisruptions extends OperatorStory {
    private static final int FIRST_MINOR_WITH_POD_SECURITY = 25;
    private static final String ENFORCE = "pod-security.kubernetes.io/enforce";

    @Test
    @Order(12)
    void aJobCompletesBesideItsSidecar() {
        boolean isNative = Applications.isNative(applications.dryRun());
        apply("{apiVersion: batch/v1, kind: Job, metadata: {name: job, namespace: " + APPLICATIONS
                + "}, spec: {backoffLimit: 0, template: " + applications.template("job", "show, device", "Never")
                + "}}");

        eventually(() -> assertThat(applications.of("job"))
                .singleElement()
                .satisfies(pod -> assertThat(Applications.containers(pod).contains("sidewarp"))
                        .isEqualTo(isNative)));
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        assumeTrue(isNative, "without native sidecars, pods of Jobs get no sidecar");
        eventually(() -> assertThat(client.batch()
                        .v1()
                        .jobs()
                        .inNamespace(APPLICATIONS)
                        .withName("job")
                        .get()
                        .getStatus()
                        .getSucceeded())
                .isEqualTo(1));
        transcript.heading("A Job, whose pod ends although its sidecar would not");
        transcript.get("jobs --namespace " + APPLICATIONS, "/apis/batch/v1/namespaces/" + APPLICATIONS + "/jobs");
    }

    @Test
    @Order(13)
    void aSidecarThatIsKilledComesBackAndItsPodMovesDataAgain() {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        Pod pod = applications.get("client");
        ContainerStatus before = Applications.sidecarStatus(pod);

        cluster.killContainer(pod.getSpec().getNodeName(), before.getContainerID());

        eventually(() -> assertThat(Applications.sidecarStatus(applications.get("client")))
                .satisfies(status -> {
                    assertThat(status.getRestartCount()).isGreaterThan(before.getRestartCount());
                    assertThat(status.getReady()).isTrue();
                }));
        transcript.heading("The sidecar of the client is killed (SIGKILL), and started again by the kubelet");
        transcript.get("pods --namespace " + APPLICATIONS, "/api/v1/namespaces/" + APPLICATIONS + "/pods");
        String server = applications.get("server").getStatus().getPodIP();
        assertThat(exec("client", "sidewarp --wait-ready 60s cp " + server + ":7472/modules /tmp/modules"))
                .contains("verified");
    }

    @Test
    @Order(14)
    void aRestrictedNamespaceAcceptsTheSidecar() {
        assumeTrue(
                Integer.parseInt(client.getKubernetesVersion().getMinor().replaceAll("\\D.*", ""))
                        >= FIRST_MINOR_WITH_POD_SECURITY,
                "the API server has no Pod Security Admission");
        setEnforcedLevel("restricted");
        try {
            eventually(() -> assertThatThrownBy(applications::dryRun)
                    .hasMessageContaining("violates PodSecurity")
                    .hasMessageContaining("container \"app\"")
                    .message()
                    .doesNotContain("\"sidewarp"));
            Pod restricted = applications.createWith(
                    "restricted",
                    "sidewarp.io/verbs: enabled, sidewarp.io/rnics: '0'",
                    "securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: {drop:"
                            + " [ALL]}, seccompProfile: {type: RuntimeDefault}},");
            assertThat(Applications.containers(restricted)).contains("sidewarp");
            transcript.heading("A namespace that enforces the Pod Security Standard restricted");
            transcript.command(
                    "kubectl label namespace " + APPLICATIONS + " pod-security.kubernetes.io/enforce=restricted", "");
            if (cluster.runsApplications()) {
                applications.awaitReady("restricted");
            }
            transcript.get(
                    "pod restricted --namespace " + APPLICATIONS,
                    "/api/v1/namespaces/" + APPLICATIONS + "/pods/restricted");
        } finally {
            setEnforcedLevel(null);
            applications.delete("restricted");
        }
    }

    private static void setEnforcedLevel(String level) {
        client.namespaces().withName(APPLICATIONS).edit(namespace -> {
            if (level == null) {
                namespace.getMetadata().getLabels().remove(ENFORCE);
            } else {
                namespace.getMetadata().getLabels().put(ENFORCE, level);
            }
            return namespace;
        });
    }

    @Test
    @Order(15)
    void aQuotaOfLimitsIsKeptByAProfileWithLimits() {
        String quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota, namespace: " + APPLICATIONS
                + "}, spec: {hard: {limits.cpu: '4'}}}";
        String limits = "resources: {limits: {cpu: '1'}},";
        apply("{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: limited, namespace: "
                + APPLICATIONS + "}, spec: {resources: {limits: {cpu: '1', memory: 2Gi}}}}");
        eventually(() -> assertThat(conditions(profile("limited"))).contains("Ready Valid"));
        apply(quota);
        try {
            eventually(() -> assertThatThrownBy(() -> applications.dryRunWith(limits))
                    .hasMessageContaining("must specify limits.cpu"));
            eventually(() -> assertThat(Applications.sidecar(
                                    applications.createWith("limited", "sidewarp.io/profile: limited", limits))
                            .getResources()
                            .getLimits())
                    .containsKey("cpu"));
            eventually(() -> assertThat(client.resourceQuotas()
                            .inNamespace(APPLICATIONS)
                            .withName("quota")
                            .get()
                            .getStatus()
                            .getUsed())
                    .containsEntry("limits.cpu", new Quantity("2")));
            if (cluster.runsApplications()) {
                applications.awaitReady("limited");
            }
            transcript.heading("A ResourceQuota of limits.cpu, and a pod whose profile gives its sidecar limits");
            transcript.get(
                    "resourcequotas --namespace " + APPLICATIONS,
                    "/api/v1/namespaces/" + APPLICATIONS + "/resourcequotas");
        } finally {
            client.resourceQuotas().inNamespace(APPLICATIONS).withName("quota").delete();
            applications.delete("limited");
        }
    }

    @Test
    @Order(16)
    void aKubeletThatRestartsOffersTheDevicesAgain() {
        String node = cluster.nodes().getFirst();
        int devices = cluster.deviceCount(node);
        Pod before = applications.get("injected");

        cluster.restartKubelet(node);

        eventually(() -> assertThat(cluster.deviceCount(node)).isEqualTo(devices));
        eventually(() -> assertThat(holding(iwarpNode(node))).isEqualTo("Ready SoftwareOffered"));
        assertThat(applications.get("injected").getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());
        if (cluster.runsApplications()) {
            applications.create("after-kubelet", "");
            applications.awaitReady("after-kubelet");
        }
        transcript.heading("The kubelet of the first node restarts");
        transcript.get("iwarpnodes", SIDEWARP + "/iwarpnodes");
    }

    @Test
    @Order(17)
    void aDrainMovesTheControllerAndApplications() {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: drained, namespace: " + APPLICATIONS
                + "}, spec: {replicas: 1, selector: {matchLabels: {app: drained}}, template: "
                + applications.template("drained", "ping, --listen, '0.0.0.0:7471'", "Always") + "}}");
        eventually(() -> assertThat(applications.of("drained"))
                .singleElement()
                .matches(pod -> Applications.sidecarStatus(pod).getReady()));
        Pod former = applications.of("drained").getFirst();
        String node = former.getSpec().getNodeName();

        cordon(node, true);
        try {
            evictManagedPods(node);
            if (cluster.nodes().size() > 1) {
                assertMoved(former);
            }
        } finally {
            cordon(node, false);
        }
        assertMoved(former);
        assertThat(nodeAgents()).hasSameSizeAs(cluster.nodes());
        transcript.heading("A node is drained of the pods of the controller and of a Deployment, and uncordoned");
        transcript.command(
                "kubectl drain " + node + " --ignore-daemonsets --delete-emptydir-data --pod-selector ...", "");
        transcript.command("kubectl uncordon " + node, "");
        transcript.get("pods --namespace " + NAMESPACE, "/api/v1/namespaces/" + NAMESPACE + "/pods");
        transcript.get(
                "pods --namespace " + APPLICATIONS + " --selector app=drained",
                "/api/v1/namespaces/" + APPLICATIONS + "/pods?labelSelector=app%3Ddrained");
    }

    /** The pod is gone, and another one that has a ready sidecar is in its place. */
    private static void assertMoved(Pod former) {
        eventually(() -> assertThat(applications.of("drained"))
                .filteredOn(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .singleElement()
                .satisfies(pod -> {
                    assertThat(pod.getMetadata().getUid())
                            .isNotEqualTo(former.getMetadata().getUid());
                    assertThat(Applications.sidecarStatus(pod).getReady()).isTrue();
                }));
    }

    private static void cordon(String node, boolean unschedulable) {
        client.nodes().withName(node).edit(found -> {
            found.getSpec().setUnschedulable(unschedulable ? true : null);
            return found;
        });
    }

    /** Evicts the pods of Deployments in the namespaces of the tests, as a drain does. Others of the cluster stay. */
    private static void evictManagedPods(String node) {
        for (String namespace : List.of(NAMESPACE, APPLICATIONS)) {
            client.pods().inNamespace(namespace).list().getItems().stream()
                    .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                    .filter(pod -> pod.getMetadata().getOwnerReferences().stream()
                            .anyMatch(owner -> owner.getKind().equals("ReplicaSet")))
                    .forEach(pod -> eventually(() ->
                            assertThat(client.pods().resource(pod).evict()).isTrue()));
        }
    }
}
