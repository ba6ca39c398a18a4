// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.testing.KubeUnavailableException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests a permitted and a denied pod: the controller admits the pods and signs the certificates of their sidecars, which
 * run as processes. Writes {@code peers-transcript.txt} beside the logs.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PeersIT {
    private static final String SHOP = TestCluster.APPLICATIONS;
    private static final String PROFILES = "/apis/sidewarp.io/v1alpha1/namespaces/" + SHOP + "/sidecarprofiles";

    private static final String DENIED = "fieldSelector=reason%3DPeersDenied";

    private ProcessCluster cluster;
    private KubernetesClient client;
    private Transcript transcript;

    @BeforeAll
    void install() {
        try {
            cluster = new ProcessCluster();
        } catch (KubeUnavailableException e) {
            abort("no API server: " + e.getMessage());
        }
        client = cluster.client();
        transcript = new Transcript(client);
        transcript.heading(cluster.description());
        Map<String, Object> values = new LinkedHashMap<>(cluster.chartValues());
        values.put("controller.replicas", 1);
        values.put("identity.source", "builtin");
        new HelmRelease(cluster.kubeconfig(), TestCluster.NAMESPACE).install(values);
        transcript.command(
                "helm install sidewarp helm/sidewarp --namespace sidewarp-system --set identity.source=builtin", "");
        eventually(() -> assertThat(client.apps()
                        .deployments()
                        .inNamespace(TestCluster.NAMESPACE)
                        .withName("sidewarp-controller")
                        .get()
                        .getStatus()
                        .getReadyReplicas())
                .isEqualTo(1));
        apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + SHOP
                + ", labels: {sidewarp.io/inject: enabled}}}");
        for (String account : List.of("db", "cart", "intruder")) {
            apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + account + ", namespace: " + SHOP + "}}");
        }
        profile("db", "{peers: [{serviceAccount: cart}]}");
        profile("clients", "{security: required}");
        eventually(() -> assertThat(state("db")).isEqualTo("Ready Valid"));
        transcript.heading("A profile that names the peers, and one for pods that connect");
        transcript.get("sidecarprofiles --namespace " + SHOP, PROFILES);
    }

    @AfterAll
    void stop() {
        if (cluster != null) {
            transcript.write(Programs.output().resolve("peers-transcript.txt"));
            cluster.close();
        }
    }

    @Test
    void permittedPodConnectsAndAnotherPodIsDenied() {
        int issuer = cluster.identityPort();
        try (SidecarProcess db = PodSidecar.start(client, pod("db", "db"), issuer);
                SidecarProcess cart = PodSidecar.start(client, pod("cart", "clients"), issuer);
                SidecarProcess intruder = PodSidecar.start(client, pod("intruder", "clients"), issuer);
                OwnedProcess server = CliProcess.start(db, "ping", "--listen", "127.0.0.1:0")) {
            String address = CliProcess.awaitAddress(server);

            CliProcess.Ended permitted = CliProcess.run(cart, "ping", address, "--count", "3");
            CliProcess.Ended denied = CliProcess.run(intruder, "ping", address, "--count", "3");

            transcript.heading("The pod db listens. The pod cart has the service account cart, and may connect");
            exec("cart", "ping " + address + " --count 3", permitted);
            transcript.heading("The pod intruder has another service account, and is denied");
            exec("intruder", "ping " + address + " --count 3", denied);
            String log = Patience.await("the sidecar of db logs the denial")
                    .until(() -> denial(db), line -> !line.isEmpty());
            transcript.command("kubectl logs db --namespace " + SHOP + " --container sidewarp | grep denied", log);
            eventually(() -> assertThat(events()).contains("PeersDenied"));
            transcript.heading("The owner of the pod db sees an event");
            transcript.get(
                    "events --namespace " + SHOP + " --field-selector reason=PeersDenied",
                    "/api/v1/namespaces/" + SHOP + "/events?" + DENIED);
            assertThat(permitted.exitCode()).as(permitted.text()).isZero();
            assertThat(permitted.text()).contains("3 of 3 rounds good");
            assertThat(denied.exitCode()).as(denied.text()).isNotZero();
            assertThat(log)
                    .contains(
                            "spiffe://cluster.local/ns/" + SHOP + "/sa/intruder",
                            "spiffe://cluster.local/ns/" + SHOP + "/sa/db");
        }
    }

    @Test
    void podOfAProfileThatCannotWorkIsRefusedWithTheRemedy() {
        profile("contradiction", "{peers: [{serviceAccount: cart}], security: plain}");

        assertThatThrownBy(() -> pod("refused", "contradiction"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("security is plain, and with peers it is required; remove security");
        eventually(() -> assertThat(state("contradiction")).isEqualTo("Degraded Invalid"));
    }

    @Test
    void patternsThatCannotMatchAreRefusedByTheApiServer() {
        assertThatThrownBy(() -> profile("capitals", "{peers: [{namespace: Shop}]}"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("spec.peers");
    }

    @Test
    void podOfAnotherProfileGetsNoIdentity() {
        Pod pod = create("plain", "default", "");

        assertThat(pod.getSpec().getVolumes()).extracting("name").doesNotContain("sidewarp-identity");
        assertThat(Applications.sidecar(pod).getEnv())
                .extracting("name", String.class)
                .noneMatch(name -> name.startsWith("SIDEWARP_IDENTITY") || name.startsWith("SIDEWARP_CONNECTION"));
    }

    /** Returns the reasons of the events of the pod db. */
    private List<String> events() {
        return client.v1().events().inNamespace(SHOP).list().getItems().stream()
                .filter(event -> event.getInvolvedObject().getName().equals("db")
                        && event.getInvolvedObject().getKind().equals("Pod"))
                .map(Event::getReason)
                .toList();
    }

    private static String denial(SidecarProcess sidecar) {
        return sidecar.process().output().stream()
                .filter(line -> line.contains("denied"))
                .findFirst()
                .orElse("");
    }

    private void exec(String pod, String command, CliProcess.Ended ended) {
        transcript.command(
                "kubectl exec " + pod + " --namespace " + SHOP + " --container sidewarp -- sidewarp " + command,
                ended.text());
    }

    /** Creates a pod whose service account has its name. */
    private Pod pod(String name, String profile) {
        return create(name, name.equals("refused") ? "default" : name, "sidewarp.io/profile: " + profile);
    }

    private Pod create(String name, String serviceAccount, String annotations) {
        return client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: " + SHOP
                                + ", annotations: {" + annotations + "}}, spec: {serviceAccountName: " + serviceAccount
                                + ", automountServiceAccountToken: false, containers: [{name: app, image: example}]}}",
                        Pod.class))
                .create();
    }

    private void profile(String name, String specification) {
        apply("{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: " + name + ", namespace: "
                + SHOP + "}, spec: " + specification + "}");
    }

    private String state(String name) {
        return OperatorStory.conditions(client.resources(SidecarProfile.class)
                .inNamespace(SHOP)
                .withName(name)
                .get());
    }

    private void apply(String yaml) {
        client.resource("---\n" + yaml).create();
    }

    private static void eventually(ThrowingRunnable assertion) {
        await().atMost(Patience.LONG_LIMIT)
                .ignoreException(KubernetesClientException.class)
                .ignoreException(NullPointerException.class)
                .untilAsserted(assertion);
    }
}
