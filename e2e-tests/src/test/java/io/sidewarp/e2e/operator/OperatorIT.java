// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Tests the life of an installation: Helm installs the chart, pods get sidecars, policies reach nodes, the certificate
 * is replaced, the chart is upgraded and uninstalled. The tests run in this order, and each continues the state of the
 * previous one; {@link OperatorDisruptions} has the steps 12 to 17. A step is skipped, with the reason, where the
 * cluster cannot do it. {@link TestCluster#start} selects the cluster. Writes {@code operator-transcript.txt} beside
 * the logs.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OperatorIT extends OperatorDisruptions {
    private static final String NAMES = "jsonpath='{.spec.initContainers[*].name} {.spec.containers[*].name}'";

    /** Number of pods whose time from admission to a ready sidecar is measured. */
    private static final int TIMED_PODS = 5;

    /** Exit status of the command for an identity that is not permitted. */
    private static final int PERMISSION_DENIED = 77;

    @Test
    @Order(1)
    void helmInstallsAndEverythingBecomesReady() {
        Map<String, Object> values = new LinkedHashMap<>(cluster.chartValues());
        values.put("controller.replicas", 1);
        values.put("identity.source", "builtin");
        release.install(values);
        transcript.command(
                "helm install sidewarp helm/sidewarp --namespace " + NAMESPACE
                        + " --create-namespace --set identity.source=builtin",
                "");

        eventually(() -> assertThat(client.apps()
                        .deployments()
                        .inNamespace(NAMESPACE)
                        .withName("sidewarp-controller")
                        .get()
                        .getStatus()
                        .getReadyReplicas())
                .isEqualTo(1));
        eventually(() -> assertThat(client.apps()
                        .daemonSets()
                        .inNamespace(NAMESPACE)
                        .withName("sidewarp-node-agent")
                        .get()
                        .getStatus()
                        .getNumberReady())
                .isEqualTo(cluster.nodes().size()));
        for (String node : cluster.nodes()) {
            eventually(() -> assertThat(holding(iwarpNode(node))).isEqualTo("Ready SoftwareOffered"));
            eventually(() -> assertThat(cluster.deviceCount(node)).isEqualTo(256));
        }
        transcript.get("pods --namespace " + NAMESPACE, "/api/v1/namespaces/" + NAMESPACE + "/pods");
        transcript.get("iwarpnodes", SIDEWARP + "/iwarpnodes");
    }

    @Test
    @Order(2)
    void podsOfALabelledNamespaceGetASidecarAndOthersDoNot() {
        apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + APPLICATIONS
                + ", labels: {sidewarp.io/inject: enabled}}}");
        apply("{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: fast, namespace: "
                + APPLICATIONS + "}, spec: {rnics: 1}}");
        eventually(() -> assertThat(conditions(profile("fast"))).contains("Ready Valid"));

        Pod injected = applications.create("injected", "sidewarp.io/profile: fast");
        Pod optedOut = applications.create("opted-out", "sidewarp.io/inject: disabled");

        assertThat(injected.getSpec().getVolumes()).extracting("name").contains("sidewarp-api", "sidewarp-shared");
        ResourceRequirements asked = Applications.sidecar(injected).getResources();
        if (usesClaims()) {
            assertThat(asked.getClaims()).hasSize(1);
            assertThat(asked.getLimits()).doesNotContainKey(SidewarpApi.RNIC_RESOURCE);
        } else {
            assertThat(asked.getLimits()).containsKey(SidewarpApi.RNIC_RESOURCE);
        }
        transcript.heading("A pod of a namespace with the label sidewarp.io/inject=enabled, and one that opts out");
        transcript.get(
                "sidecarprofiles --namespace " + APPLICATIONS,
                SIDEWARP + "/namespaces/" + APPLICATIONS + "/sidecarprofiles");
        transcript.command(
                "kubectl get pod injected --namespace " + APPLICATIONS + " --output " + NAMES,
                String.join(" ", Applications.containers(injected)));
        transcript.command(
                "kubectl get pod opted-out --namespace " + APPLICATIONS + " --output " + NAMES,
                String.join(" ", Applications.containers(optedOut)));
        assertThat(Applications.containers(optedOut)).containsExactly("app");
    }

    @Test
    @Order(3)
    void aPodThatContradictsItselfIsRefusedWithAHelpfulMessage() {
        assertThatThrownBy(() -> applications.create("refused", "sidewarp.io/profile: missing"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(
                        "SidecarProfile missing, which namespace " + APPLICATIONS + " does not have; create it there");
    }

    @Test
    @Order(4)
    void aDryRunIsAnsweredAsTheRealCall() {
        assertThat(Applications.containers(applications.dryRun())).contains("sidewarp");
        assertThat(applications.get("dry")).isNull();
    }

    @Test
    @Order(4)
    void aPodThatAsksForVerbsHasTheLibraryBeforeItsContainersStart() {
        Pod pod = applications.create("verbs", "sidewarp.io/verbs: enabled, sidewarp.io/rnics: '0'");
        try {
            assertThat(Applications.containers(pod)).first().isEqualTo("sidewarp-verbs");
            assertThat(Applications.containers(pod)).contains("sidewarp", "app");
            assertThat(pod.getSpec().getContainers().getFirst().getEnv())
                    .extracting(EnvVar::getName, EnvVar::getValue)
                    .contains(tuple("LD_PRELOAD", "/run/sidewarp/verbs/libsidewarp-verbs.so"));
            if (cluster.runsApplications()) {
                applications.awaitReady("verbs");
            }
        } finally {
            applications.delete("verbs");
        }
    }

    @Test
    @Order(5)
    void twoInjectedPodsMoveData() {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        applications.create("server", "sidewarp.io/profile: fast", "serve, --dir, /opt/java/lib, '0.0.0.0:7472'");
        String server = applications.awaitReady("server").getStatus().getPodIP();
        applications.create("client", "sidewarp.io/profile: fast");
        applications.awaitReady("client");

        transcript.heading("Two pods: one serves a directory, the other one copies a file from it by RDMA Read");
        transcript.get("pods --namespace " + APPLICATIONS, "/api/v1/namespaces/" + APPLICATIONS + "/pods");
        assertThat(exec("client", "sidewarp cp " + server + ":7472/modules /tmp/modules"))
                .contains("verified");
        assertThat(exec("client", "sidewarp show device")).contains("provider");
    }

    /** The nodes have no RNIC as a rule, so that the claim falls back to siw or to a soft device. */
    @Test
    @Order(6)
    void aClaimGetsTheBestKindOfDeviceThatItsNodeHas() {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        assumeTrue(usesClaims(), "this cluster has no ResourceClaims for devices");
        Pod pod = applications.awaitReady("client");
        String claim = pod.getStatus().getResourceClaimStatuses().getFirst().getResourceClaimName();
        String kind = switch (iwarpNode(pod.getSpec().getNodeName()).getStatus().activeProvider()) {
            case HARDWARE -> "hardware";
            case KERNEL_SIW -> "kernel-siw";
            case SOFTWARE -> "software";
        };

        List<DeviceRequestAllocationResult> results = client.resources(ResourceClaim.class)
                .inNamespace(APPLICATIONS)
                .withName(claim)
                .get()
                .getStatus()
                .getAllocation()
                .getDevices()
                .getResults();

        assertThat(results)
                .singleElement()
                .satisfies(result -> assertThat(result.getRequest()).endsWith("/" + kind));
        transcript.heading("The claim of a pod, which prefers an RNIC to siw, and siw to a soft device");
        transcript.get(
                "resourceclaims --namespace " + APPLICATIONS,
                "/apis/resource.k8s.io/v1/namespaces/" + APPLICATIONS + "/resourceclaims");
        transcript.command(
                "kubectl get resourceclaim " + claim + " --namespace " + APPLICATIONS
                        + " --output jsonpath='{range .status.allocation.devices.results[*]}{.request} {.pool} {.device}{end}'",
                results.getFirst().getRequest() + " " + results.getFirst().getPool() + " "
                        + results.getFirst().getDevice());
    }

    @Test
    @Order(7)
    void aListenerAcceptsThePeersOfItsProfileAndRefusesOthers() {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        for (String account : List.of("cart", "web")) {
            apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + account + ", namespace: " + APPLICATIONS
                    + "}}");
        }
        Map.of("guarded", "{peers: [{serviceAccount: cart}]}", "secure", "{security: required}")
                .forEach((name, spec) -> {
                    apply("{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: " + name
                            + ", namespace: " + APPLICATIONS + "}, spec: " + spec + "}");
                    eventually(() -> assertThat(conditions(profile(name))).contains("Ready Valid"));
                });
        applications.create("table", "sidewarp.io/profile: guarded", "serve, --dir, /opt/java/lib, '0.0.0.0:7472'");
        applications.createAs("cart", "cart", "sidewarp.io/profile: secure");
        applications.createAs("web", "web", "sidewarp.io/profile: secure");
        String copy =
                "sidewarp cp " + applications.awaitReady("table").getStatus().getPodIP() + ":7472/modules /tmp/modules";
        applications.awaitReady("cart");
        applications.awaitReady("web");

        transcript.heading("A profile that permits pods of the service account cart, and a pod of another one");
        assertThat(exec("cart", copy)).contains("verified");
        assertThat(exec("web", copy, PERMISSION_DENIED))
                .contains("refused the connection: it does not permit the identity of this side");
        String denials = applications
                .sidecarLog("table")
                .lines()
                .filter(line -> line.contains("event=connection-denied"))
                .collect(Collectors.joining("\n"));
        transcript.command(
                "kubectl logs table --namespace " + APPLICATIONS + " --container sidewarp | grep connection-denied",
                denials);

        assertThat(denials).contains("/ns/" + APPLICATIONS + "/sa/web", "/ns/" + APPLICATIONS + "/sa/default");
        List.of("table", "cart", "web").forEach(applications::delete);
    }

    @Test
    @Order(7)
    void sidecarsBecomeReady() throws InterruptedException {
        assumeTrue(cluster.runsApplications(), NO_APPLICATIONS);
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < TIMED_PODS; i++) {
            millis.add(applications.millisFromAdmissionToReadySidecar("timed-" + i));
        }
        Collections.sort(millis);
        transcript.heading("From the admission of a pod to its ready sidecar: median " + millis.get(TIMED_PODS / 2)
                + " ms, from " + millis.getFirst() + " to " + millis.getLast() + " ms, " + TIMED_PODS + " pods");
    }

    @Test
    @Order(8)
    void aPolicyReachesTheNodesItSelectsAndTellsItsState() {
        String first = cluster.nodes().getFirst();
        apply("{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: numbered}, spec: "
                + policyOfNode(0, 3) + "}");

        eventually(() -> assertThat(iwarpNode(first).getStatus().devices()).isEqualTo(3));
        eventually(() -> assertThat(cluster.deviceCount(first)).isEqualTo(3));
        eventually(() -> assertThat(conditions(policy("numbered"))).contains("Progressing NoNicSelected"));
        assertThat(policy("numbered").getStatus().selectedNodes()).isEqualTo(1);
        assertThat(cluster.nodes().stream().skip(1))
                .allSatisfy(other ->
                        assertThat(iwarpNode(other).getSpec().policies()).isEmpty());
        eventually(() -> assertThat(
                        client.v1().events().inNamespace("default").list().getItems())
                .anySatisfy(event -> {
                    assertThat(event.getInvolvedObject().getName()).isEqualTo("numbered");
                    assertThat(event.getReason()).isEqualTo("NoNicSelected");
                }));
        transcript.heading("A policy for the first node");
        transcript.get("iwarpnicpolicies", SIDEWARP + "/iwarpnicpolicies");
        transcript.get("iwarpnodes", SIDEWARP + "/iwarpnodes");
        transcript.get(
                "events --field-selector involvedObject.kind=IwarpNicPolicy",
                "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DIwarpNicPolicy");
    }

    /** Returns the specification of a policy for one node. Its selector matches no NIC of any node. */
    private static String policyOfNode(int number, int devices) {
        String hostname = client.nodes()
                .withName(cluster.nodes().get(number))
                .get()
                .getMetadata()
                .getLabels()
                .get(TestCluster.HOSTNAME_LABEL);
        return "{nodeSelector: {" + TestCluster.HOSTNAME_LABEL + ": '" + hostname
                + "'}, nicSelector: {pfNames: [e2e-none]}," + " software: {devices: " + devices + "}}";
    }

    @Test
    @Order(9)
    void anInvalidProfileIsDegradedAndItsPodsAreRefused() {
        apply("{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: odd, namespace: "
                + APPLICATIONS + "}, spec: {settings: {sidewarp.api.socket: /tmp/x}}}");

        eventually(() -> assertThat(conditions(profile("odd"))).contains("Degraded Invalid"));
        assertThatThrownBy(() -> applications.create("odd", "sidewarp.io/profile: odd"))
                .hasMessageContaining("settings has sidewarp.api.socket, which the operator sets itself");
    }

    @Test
    @Order(10)
    void anAbsentApiServerIsOutlived() {
        boolean claims = usesClaims();
        cluster.withoutApiServer(() -> {
            // The device plugin may have no devices where nodes offer them to claims.
            if (!claims) {
                assertThat(cluster.nodes())
                        .allSatisfy(
                                node -> assertThat(cluster.pluginDevices(node)).isPositive());
            }
        });

        eventually(() -> assertThat(
                        Applications.containers(applications.create("after-restart-" + System.nanoTime(), "")))
                .contains("sidewarp"));
        client.resources(IwarpNicPolicy.class).withName("numbered").edit(policy -> {
            policy.setSpec(Serialization.unmarshal(
                    "---\n" + policyOfNode(1, 5), policy.getSpec().getClass()));
            return policy;
        });
        eventually(
                () -> assertThat(iwarpNode(cluster.nodes().get(1)).getStatus().devices())
                        .isEqualTo(5));
        eventually(
                () -> assertThat(iwarpNode(cluster.nodes().get(0)).getStatus().devices())
                        .isEqualTo(256));
    }

    /** The API server would refuse a certificate whose authority it does not know yet, and with it every pod. */
    @Test
    @Order(11)
    void aCertificateIsReplacedWithoutAPodRefused() {
        X509Certificate former = cluster.servedCertificate();

        client.secrets()
                .inNamespace(NAMESPACE)
                .withName("sidewarp-webhook-certificate")
                .delete();
        await().atMost(Patience.LONG_LIMIT).until(() -> {
            for (int i = 0; i < 5; i++) {
                assertThat(Applications.containers(applications.dryRun())).contains("sidewarp");
            }
            return !cluster.servedCertificate().equals(former);
        });

        assertThat(Applications.containers(applications.dryRun())).contains("sidewarp");
    }

    @Test
    @Order(18)
    void anUpgradeKeepsRunningPodsAndReachesNewOnes() {
        Pod before = applications.get("injected");
        List<String> agents = nodeAgents();

        release.upgrade(Map.of("sidecar.image.tag", "next", "nodeAgent.logLevel", "DEBUG"));

        eventually(() -> assertThat(Applications.sidecar(applications.dryRun()).getImage())
                .endsWith(":next"));
        eventually(
                () -> assertThat(nodeAgents()).hasSize(cluster.nodes().size()).doesNotContainAnyElementsOf(agents));
        for (String node : cluster.nodes()) {
            eventually(() -> assertThat(cluster.deviceCount(node)).isPositive());
        }
        assertThat(applications.get("injected").getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());
    }

    @Test
    @Order(19)
    void uninstallLeavesNothingBehind() {
        boolean claims = usesClaims();
        if (claims) {
            // The node agents stay until no pod holds a claim, because without them such pods cannot end.
            client.apps()
                    .deployments()
                    .inNamespace(APPLICATIONS)
                    .withName("drained")
                    .delete();
            client.pods().inNamespace(APPLICATIONS).delete();
        }

        release.uninstall();

        eventually(() -> assertThat(left()).isEmpty());
        eventually(() -> assertThat(client.pods().inNamespace(NAMESPACE).list().getItems())
                .isEmpty());
        transcript.heading("Uninstalled");
        transcript.command("helm uninstall sidewarp --namespace " + NAMESPACE, "");
        transcript.get("pods --namespace " + NAMESPACE, "/api/v1/namespaces/" + NAMESPACE + "/pods");
        if (!claims) {
            assertThat(applications.get("injected")).isNotNull();
        }
    }

    @Test
    @Order(20)
    void theClusterKeepsWhatItHad() {
        client.namespaces().withName(APPLICATIONS).delete();
        client.namespaces().withName(NAMESPACE).delete();
        eventually(() -> assertThat(namespaces()).doesNotContainKeys(APPLICATIONS, NAMESPACE));

        assertThat(namespaces()).containsAllEntriesOf(found);
    }

    private static List<String> left() {
        return Stream.<List<? extends HasMetadata>>of(
                        client.admissionRegistration()
                                .v1()
                                .mutatingWebhookConfigurations()
                                .list()
                                .getItems(),
                        client.supports(ValidatingAdmissionPolicy.class)
                                ? client.admissionRegistration()
                                        .v1()
                                        .validatingAdmissionPolicies()
                                        .list()
                                        .getItems()
                                : List.of(),
                        client.apps().daemonSets().inNamespace(NAMESPACE).list().getItems(),
                        client.apps()
                                .deployments()
                                .inNamespace(NAMESPACE)
                                .list()
                                .getItems(),
                        client.batch().v1().jobs().inNamespace(NAMESPACE).list().getItems(),
                        client.leases().inNamespace(NAMESPACE).list().getItems(),
                        client.configMaps().inNamespace(NAMESPACE).list().getItems(),
                        client.secrets().inNamespace(NAMESPACE).list().getItems(),
                        client.services().inNamespace(NAMESPACE).list().getItems(),
                        client.rbac().clusterRoles().list().getItems(),
                        client.rbac().clusterRoleBindings().list().getItems(),
                        client.apiextensions()
                                .v1()
                                .customResourceDefinitions()
                                .list()
                                .getItems())
                .flatMap(List::stream)
                .filter(resource -> resource.getMetadata().getName().contains("sidewarp"))
                // Kubernetes itself removes the tokens of service accounts.
                .filter(resource -> !resource.getMetadata().getName().contains("-token-"))
                .map(resource ->
                        resource.getKind() + " " + resource.getMetadata().getName())
                .toList();
    }
}
