// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.webhook.CertificateStore;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of what the chart describes. */
@RealApiServer
class InstallationReconcilerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final KubernetesClient client;
    private final String namespace;
    private final Operator operator;
    private final CertificateStore certificates;

    InstallationReconcilerTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        OperatorConfig config = TestSettings.of(
                Map.of("sidewarp.operator.namespace", namespace, "sidewarp.operator.restore-timeout", "0s"));
        certificates = new CertificateStore(client, config) {
            @Override
            public Optional<String> authorities() {
                return Optional.of("of the test");
            }
        };
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        operator.register(new InstallationReconciler(config, certificates, new Uninstallation(client, config)));
    }

    @BeforeEach
    void start() {
        OwnDefinitions.install(client);
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.stop();
        certificates.close();
        webhook().delete();
    }

    @Test
    void aCleanUpThatWasBegunIsTakenBack() {
        client.resource(installation("false")).create();
        awaitNodeAgent(true);

        client.resource(installation("true")).update();
        awaitNodeAgent(false);

        client.resource(installation("false")).update();
        awaitNodeAgent(true);
    }

    @Test
    void sidecarsDoNotWaitUntilNodeAgentsAreAdmitted() {
        ConfigMap refused = installation("false");
        refused.getData()
                .compute("node-agent.yaml", (_, yaml) -> yaml.replace("{a: b}}\n  template", "{a: c}}\n  template"));
        client.resource(refused).create();

        await().atMost(LIMIT).untilAsserted(() -> assertThat(webhook().get()).isNotNull());
        awaitNodeAgent(false);
    }

    private Resource<MutatingWebhookConfiguration> webhook() {
        return client.admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName("sidewarp");
    }

    private void awaitNodeAgent(boolean there) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.apps()
                                .daemonSets()
                                .inNamespace(namespace)
                                .withName("agent")
                                .get())
                        .matches(found -> (found != null) == there));
    }

    private ConfigMap installation(String uninstalling) {
        return Yaml.parse("""
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: sidewarp-operator
                  namespace: %s
                  labels: {app.kubernetes.io/component: installation}
                  annotations: {sidewarp.io/uninstalling: "%s"}
                data:
                  node-agent.yaml: |
                    apiVersion: apps/v1
                    kind: DaemonSet
                    metadata:
                      name: agent
                      labels: {app.kubernetes.io/managed-by: sidewarp-controller}
                    spec:
                      selector: {matchLabels: {a: b}}
                      template:
                        metadata: {labels: {a: b}}
                        spec: {containers: [{name: agent, image: example/agent}]}
                  webhook.yaml: |
                    apiVersion: admissionregistration.k8s.io/v1
                    kind: MutatingWebhookConfiguration
                    metadata:
                      name: sidewarp
                      labels: {app.kubernetes.io/managed-by: sidewarp-controller}
                """.formatted(namespace, uninstalling), ConfigMap.class);
    }
}
