// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@RealApiServer(controllerManager = true)
class KubeApiServerTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    @Test
    void namespacesAreThereOnceCreatedAndGoOnceDeleted(KubernetesClient client, TestNamespaces namespaces) {
        String name = namespaces.create();
        await().atMost(LIMIT).until(() -> phase(client, name).equals("Active"));

        namespaces.close();

        await().atMost(LIMIT).until(() -> client.namespaces().withName(name).get() == null);
    }

    private static String phase(KubernetesClient client, String name) {
        Namespace namespace = client.namespaces().withName(name).get();
        return namespace.getStatus().getPhase();
    }

    @Test
    void usersMayDoWhatTheirGroupsMay(KubeApiServer server) {
        KubernetesClient client = server.clientFor("alice", "testers");
        assertThatThrownBy(() -> client.nodes().list())
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        refusal -> assertThat(refusal.getCode()).isEqualTo(HttpURLConnection.HTTP_FORBIDDEN))
                .hasMessageContaining("alice");

        allow(server, "Group", "", "testers");

        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(client.nodes().list().getItems()).isEmpty());
    }

    @Test
    void serviceAccountsAreAuthenticatedByTheirTokens(KubeApiServer server, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        server.client()
                .serviceAccounts()
                .inNamespace(namespace)
                .resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName("robot")
                        .endMetadata()
                        .build())
                .create();
        KubernetesClient robot = server.clientForServiceAccount(namespace, "robot");
        assertThatThrownBy(() -> robot.nodes().list())
                .hasMessageContaining("system:serviceaccount:" + namespace + ":robot");

        allow(server, "ServiceAccount", namespace, "robot");

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(robot.nodes().list().getItems()).isEmpty());
    }

    private static void allow(KubeApiServer server, String kind, String namespace, String name) {
        server.client()
                .resource(new ClusterRoleBindingBuilder()
                        .withNewMetadata()
                        .withName("may-do-all-" + name)
                        .endMetadata()
                        .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "cluster-admin")
                        .addNewSubject()
                        .withKind(kind)
                        .withName(name)
                        .withNamespace(namespace.isEmpty() ? null : namespace)
                        .withApiGroup(namespace.isEmpty() ? "rbac.authorization.k8s.io" : null)
                        .endSubject()
                        .build())
                .create();
    }

    @Test
    void callsWebhooksOnTheLoopbackInterface(KubeApiServer server, TestNamespaces namespaces) throws IOException {
        String namespace = namespaces.create(Map.of("webhook", "refusing"));
        HttpsServer webhook = refuseEverything(server.authority());
        try {
            server.client()
                    .resource(webhookConfiguration(server, webhook.getAddress().getPort(), namespace))
                    .create();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThatThrownBy(() -> create(server, namespace, "refused"))
                            .hasMessageContaining("the webhook of the test refuses"));
        } finally {
            server.client()
                    .admissionRegistration()
                    .v1()
                    .validatingWebhookConfigurations()
                    .withName(namespace)
                    .delete();
            webhook.stop(0);
        }
    }

    private static HttpsServer refuseEverything(CertificateAuthority authority) throws IOException {
        HttpsServer webhook = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        webhook.setHttpsConfigurator(
                new HttpsConfigurator(authority.issueServer("127.0.0.1").sslContext()));
        webhook.createContext("/", exchange -> {
            String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String uid = request.replaceFirst("(?s).*?\"uid\":\"([^\"]*)\".*", "$1");
            byte[] response = """
                    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
                     "uid": "%s", "allowed": false, "status": {"message": "the webhook of the test refuses"}}}""".formatted(uid).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, response.length);
            exchange.getResponseBody().write(response);
            exchange.close();
        });
        webhook.start();
        return webhook;
    }

    private static ValidatingWebhookConfiguration webhookConfiguration(
            KubeApiServer server, int port, String namespace) {
        String bundle = Base64.getEncoder()
                .encodeToString(server.authority().certificatePem().getBytes(StandardCharsets.UTF_8));
        return new ValidatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName(namespace)
                .endMetadata()
                .addNewWebhook()
                .withName("refuse.test.sidewarp.io")
                .withNewClientConfig()
                .withUrl("https://127.0.0.1:" + port + "/")
                .withCaBundle(bundle)
                .endClientConfig()
                .addNewRule()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("CREATE")
                .withResources("configmaps")
                .endRule()
                .withNewNamespaceSelector()
                .addToMatchLabels("webhook", "refusing")
                .endNamespaceSelector()
                .withSideEffects("None")
                .withAdmissionReviewVersions("v1")
                .withFailurePolicy("Fail")
                .endWebhook()
                .build();
    }

    private static ConfigMap create(KubeApiServer server, String namespace, String name) {
        return server.client()
                .configMaps()
                .inNamespace(namespace)
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    @Test
    void keepsItsDataOverRestartsAndLeavesNoProcess() {
        KubeApiServer server = startOwn();
        List<ProcessHandle> processes;
        try (server) {
            create(server, "default", "kept");
            server.stopApiServer();
            assertThat(server.processes()).as("etcd alone").hasSize(1);

            server.startApiServer();

            assertThat(server.client()
                            .configMaps()
                            .inNamespace("default")
                            .withName("kept")
                            .get())
                    .isNotNull();
            processes = server.processes();
            assertThat(processes).hasSize(2).allMatch(ProcessHandle::isAlive);
        }
        assertThat(processes).noneMatch(ProcessHandle::isAlive);
        assertThat(server.kubeconfig().getParent()).doesNotExist();
        assertThat(server.logs().resolve("kube-apiserver.log")).isNotEmptyFile();
    }

    private static KubeApiServer startOwn() {
        try {
            return KubeApiServer.start();
        } catch (KubeUnavailableException e) {
            return abort(e.getMessage());
        }
    }
}
