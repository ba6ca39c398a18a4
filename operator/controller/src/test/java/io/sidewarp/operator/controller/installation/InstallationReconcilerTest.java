// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.LogLines;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.webhook.CertificateStore;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the reconciliation of the resources that the chart describes. */
@RealApiServer(controllerManager = true)
class InstallationReconcilerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String AUTHORITIES = "of the test";

    private final KubernetesClient client;
    private final String namespace;
    private final CertificateStore certificates;
    private Operator operator;

    InstallationReconcilerTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        OperatorConfig config = config("0s");
        certificates = new CertificateStore(client, config) {
            @Override
            public Optional<String> authorities() {
                return Optional.of(AUTHORITIES);
            }
        };
        operator = operator(config);
    }

    private OperatorConfig config(String restoreTimeout) {
        return TestSettings.of(
                Map.of("sidewarp.operator.namespace", namespace, "sidewarp.operator.restore-timeout", restoreTimeout));
    }

    private Operator operator(OperatorConfig config) {
        Operator made =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        made.register(new InstallationReconciler(
                config,
                certificates,
                new Uninstallation(client, config),
                new NodeStates(),
                new EventRecorder(client, "test")));
        return made;
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
        // Operators of further tests follow all namespaces.
        client.configMaps().inNamespace(namespace).delete();
        webhook().delete();
        webhook("sidewarp").delete();
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
        createWebhook("sidewarp-webhook", "Helm");
        client.resource(refused).create();

        awaitTrust();
        awaitNodeAgent(false);
    }

    @Test
    void onlyAuthoritiesAndOwnerOfTheWebhookConfigurationAreWritten() {
        MutatingWebhookConfiguration before = createWebhook("sidewarp-webhook", "Helm");

        client.resource(installation("false")).create();
        awaitTrust();

        MutatingWebhookConfiguration after = webhook().get();
        assertThat(after.getMetadata().getOwnerReferences()).singleElement().satisfies(owner -> {
            assertThat(owner.getKind()).isEqualTo("Namespace");
            assertThat(owner.getName()).isEqualTo(namespace);
        });
        after.getWebhooks().forEach(entry -> entry.getClientConfig().setCaBundle(null));
        assertThat(after.getWebhooks()).isEqualTo(before.getWebhooks());
        assertThat(after.getMetadata().getLabels())
                .isEqualTo(before.getMetadata().getLabels());
        assertThat(after.getMetadata().getAnnotations())
                .isEqualTo(before.getMetadata().getAnnotations());
    }

    @Test
    void authoritiesThatSomebodyElseOverwritesAreWrittenAgain() {
        createWebhook("sidewarp-webhook", "Helm");
        client.resource(installation("false")).create();
        awaitTrust();

        webhook().edit(configuration -> {
            configuration.getWebhooks().getFirst().getClientConfig().setCaBundle(null);
            return configuration;
        });

        awaitTrust();
    }

    /** AKS's admissions enforcer adds such an expression, and would add it again and again. */
    @Test
    void expressionThatAnotherManagerAddsSurvivesReconciliations() {
        createWebhook("sidewarp-webhook", "Helm");
        client.resource(installation("false")).create();
        awaitTrust();
        webhook()
                .patch(
                        new PatchContext.Builder()
                                .withPatchType(PatchType.STRATEGIC_MERGE)
                                .withFieldManager("admissionsenforcer")
                                .build(),
                        """
                        {"webhooks": [{"name": "namespaces.inject.sidewarp.io", "namespaceSelector":
                          {"matchExpressions": [{"key": "control-plane", "operator": "DoesNotExist"}]}}]}
                        """);
        List<MutatingWebhook> expected = webhook().get().getWebhooks();

        for (int i = 0; i < 3; i++) {
            webhook().edit(configuration -> {
                configuration
                        .getWebhooks()
                        .forEach(entry -> entry.getClientConfig().setCaBundle(null));
                return configuration;
            });
            awaitTrust();
        }

        assertThat(webhook().get().getWebhooks()).isEqualTo(expected);
        assertThat(expected.getFirst().getNamespaceSelector().getMatchExpressions())
                .hasSize(1);
    }

    @Test
    void theFormerReleasesWebhookConfigurationIsReplaced() {
        createWebhook("sidewarp", "sidewarp-controller");
        createWebhook("sidewarp-webhook", "Helm");

        client.resource(installation("false")).create();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(webhook("sidewarp").get()).isNull());
        awaitTrust();
    }

    /** The webhook goes with its namespace, and would have the API server refuse the pods of others. */
    @Test
    void aDeletedNamespaceRefusesNoPodsOfOthers(TestNamespaces namespaces) {
        createWebhook("sidewarp-webhook", "Helm");
        client.resource(installation("false")).create();
        awaitTrust();
        String labelled = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        assertThatThrownBy(() -> createPod(labelled)).hasMessageContaining("failed calling webhook");

        client.namespaces().withName(namespace).delete();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThatCode(() -> createPod(labelled)).doesNotThrowAnyException());
        assertThat(webhook().get()).isNull();
    }

    @Test
    void aCleanUpEndsTheWebhook() {
        createWebhook("sidewarp-webhook", "Helm");

        client.resource(installation("true")).create();

        await().atMost(LIMIT).untilAsserted(() -> assertThat(webhook().get()).isNull());
    }

    @Test
    void nodeAgentsStayWhilePodsHoldClaims() {
        DraDefinitions.install(client, true);
        operator.stop();
        operator = operator(config("10m"));
        operator.start();
        client.resource(installation("false")).create();
        awaitNodeAgent(true);
        ResourceClaim claim = holdClaim();

        try (LogLines log = LogLines.of(Uninstallation.class)) {
            client.resource(installation("true")).update();

            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(log.all())
                            .anyMatch(line -> line.startsWith("event=claims-held")
                                    && line.contains(namespace + "/held of app-1")));
        }
        awaitNodeAgent(true);

        claim.getStatus().setReservedFor(List.of());
        client.resource(claim).updateStatus();
        awaitNodeAgent(false);
        client.pods().inNamespace(namespace).withGracePeriod(0).delete();
    }

    private ResourceClaim holdClaim() {
        // Kubernetes 1.34 and later releases the claims of pods that do not exist.
        Pod pod = client.resource(Yaml.parse(
                        "{apiVersion: v1, kind: Pod, metadata: {name: app-1, namespace: " + namespace
                                + "}, spec: {nodeName: node-a, containers: [{name: app, image: a}]}}",
                        Pod.class))
                .create();
        ResourceClaim claim = client.resource(Yaml.parse("""
                {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: held, namespace: %s},
                 spec: {devices: {requests: [{name: rnics, exactly: {deviceClassName: rnic.sidewarp.io, count: 1,
                  allocationMode: ExactCount}}]}}}
                """.formatted(namespace), ResourceClaim.class))
                .create();
        claim.setStatus(Yaml.parse("""
                {allocation: {devices: {results: [{request: rnics, driver: rnic.sidewarp.io, pool: node-a, device: soft-1}]}},
                 reservedFor: [{resource: pods, name: app-1, uid: %s}]}
                """.formatted(pod.getMetadata().getUid()), ResourceClaimStatus.class));
        return client.resource(claim).updateStatus();
    }

    private void createPod(String labelledNamespace) {
        client.pods()
                .inNamespace(labelledNamespace)
                .resource(Yaml.parse(
                        "{apiVersion: v1, kind: Pod, metadata: {name: app}, spec: {containers: [{name: app, image: a}]}}",
                        Pod.class))
                .dryRun()
                .create();
    }

    private void awaitTrust() {
        String bundle = Base64.getEncoder().encodeToString(AUTHORITIES.getBytes(StandardCharsets.US_ASCII));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(webhook().get().getWebhooks())
                        .hasSize(2)
                        .allSatisfy(entry -> assertThat(entry.getClientConfig().getCaBundle())
                                .isEqualTo(bundle)));
    }

    /** As the chart makes it, of a webhook that does not answer. */
    private MutatingWebhookConfiguration createWebhook(String name, String manager) {
        String entry = """
                  - name: %s.inject.sidewarp.io
                    clientConfig: {url: "https://127.0.0.1:1/mutate-pods"}
                    namespaceSelector: {matchLabels: {sidewarp.io/inject: %s}}
                    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
                    sideEffects: None
                    admissionReviewVersions: [v1]
                    failurePolicy: Fail
                """;
        return client.resource(Yaml.parse(
                        """
                apiVersion: admissionregistration.k8s.io/v1
                kind: MutatingWebhookConfiguration
                metadata:
                  name: %s
                  labels: {app.kubernetes.io/managed-by: %s}
                  annotations: {of-somebody-else: kept}
                webhooks:
                """.formatted(name, manager)
                                + entry.formatted("namespaces", "enabled")
                                + entry.formatted("pods", "other"),
                        MutatingWebhookConfiguration.class))
                .create();
    }

    private Resource<MutatingWebhookConfiguration> webhook() {
        return webhook("sidewarp-webhook");
    }

    private Resource<MutatingWebhookConfiguration> webhook(String name) {
        return client.admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(name);
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
                """.formatted(namespace, uninstalling), ConfigMap.class);
    }
}
