// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.testing.KubeUnavailableException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Holds the installation, its cluster and its transcript for the steps of {@link OperatorIT}. */
abstract class OperatorStory {
    static final String NAMESPACE = TestCluster.NAMESPACE;
    static final String APPLICATIONS = TestCluster.APPLICATIONS;
    static final String NO_APPLICATIONS = "no application runs in this cluster";
    static final String SIDEWARP = "/apis/sidewarp.io/v1alpha1";

    static TestCluster cluster;
    static KubernetesClient client;
    static HelmRelease release;
    static Applications applications;
    static Transcript transcript;

    /** Namespaces that the cluster had, by their names. */
    static Map<String, String> found;

    @BeforeAll
    static void start() {
        try {
            cluster = TestCluster.start();
        } catch (KubeUnavailableException e) {
            abort("no API server: " + e.getMessage());
        }
        client = cluster.client();
        found = namespaces();
        release = new HelmRelease(cluster.kubeconfig(), NAMESPACE);
        applications = new Applications(cluster);
        transcript = new Transcript(client);
        transcript.heading(cluster.description());
    }

    @AfterAll
    static void stop() {
        if (cluster == null) {
            return;
        }
        try {
            transcript.write(Programs.output().resolve("operator-transcript.txt"));
            client.namespaces().withName(APPLICATIONS).delete();
        } finally {
            cluster.close();
        }
    }

    static boolean usesClaims() {
        return iwarpNode(cluster.nodes().getFirst()).getSpec().offersClaims();
    }

    static String exec(String pod, String command) {
        return exec(pod, command, 0);
    }

    static String exec(String pod, String command, int expected) {
        String output = applications.exec(pod, command, expected);
        transcript.command(
                "kubectl exec " + pod + " --namespace " + APPLICATIONS + " --container app -- " + command, output);
        return output;
    }

    /** Names and identities of the namespaces that stay. */
    static Map<String, String> namespaces() {
        return client.namespaces().list().getItems().stream()
                .map(HasMetadata::getMetadata)
                .filter(namespace -> namespace.getDeletionTimestamp() == null)
                .collect(Collectors.toMap(ObjectMeta::getName, ObjectMeta::getUid));
    }

    static List<String> nodeAgents() {
        return client
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("app.kubernetes.io/component", "node-agent")
                .list()
                .getItems()
                .stream()
                .map(pod -> pod.getMetadata().getUid())
                .toList();
    }

    static void eventually(ThrowingRunnable assertion) {
        await().atMost(Patience.LONG_LIMIT)
                .ignoreException(KubernetesClientException.class)
                .ignoreException(NullPointerException.class)
                .untilAsserted(assertion);
    }

    static void apply(String yaml) {
        client.resource("---\n" + yaml).create();
    }

    static IwarpNode iwarpNode(String name) {
        return client.resources(IwarpNode.class).withName(name).get();
    }

    static IwarpNicPolicy policy(String name) {
        return client.resources(IwarpNicPolicy.class).withName(name).get();
    }

    static SidecarProfile profile(String name) {
        return client.resources(SidecarProfile.class)
                .inNamespace(APPLICATIONS)
                .withName(name)
                .get();
    }

    static String holding(IwarpNode node) {
        return holding(node.getStatus().conditions());
    }

    static String conditions(IwarpNicPolicy policy) {
        return holding(policy.getStatus().conditions());
    }

    static String conditions(SidecarProfile profile) {
        return holding(profile.getStatus().conditions());
    }

    static String holding(List<StatusCondition> conditions) {
        return conditions.stream()
                .filter(StatusCondition::holds)
                .map(condition -> condition.type() + " " + condition.reason())
                .findFirst()
                .orElse("none");
    }
}
