// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.zjsonpatch.JsonPatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.LogLines;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import io.sidewarp.operator.testing.EndedSpans;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the webhook with calls of the API server, and of any other client that reaches its port. */
@RealApiServer
class WebhookServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String REVIEW = """
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", "operation": "CREATE",
             "namespace": "%s", "object": {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "app"}],
             "tolerations": [{}%s]}}}}
            """;

    @Test
    void aReviewThatWouldTakeAllMemoryIsRefusedAndTheNextOneAnswered(KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create();
        try (Webhook webhook = new Webhook(client, namespace)) {
            HttpResponse<String> bomb = webhook.post(REVIEW.formatted(namespace, ",{}".repeat(1_000_000)));
            HttpResponse<String> pod = webhook.post(REVIEW.formatted(namespace, ",{}".repeat(10)));

            assertThat(bomb.statusCode()).isEqualTo(400);
            assertThat(bomb.body()).contains("no pod needs that many");
            assertThat(pod.statusCode()).isEqualTo(200);
            assertThat(pod.body()).contains("\"allowed\":true");
        }
    }

    @Test
    void whatIsNoReviewIsTheFaultOfTheClient(KubernetesClient client, TestNamespaces namespaces) throws Exception {
        String request = "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": %s}";
        try (Webhook webhook = new Webhook(client, namespaces.create())) {
            for (String review : List.of(
                    "null",
                    "[]",
                    "1",
                    "{}",
                    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}",
                    request.formatted("[]"),
                    request.formatted("{\"uid\": null}"),
                    request.formatted(
                            "{\"uid\": \"1\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": 1}}"))) {
                HttpResponse<String> answer = webhook.post(review);

                assertThat(answer.statusCode()).as(review).isEqualTo(400);
                assertThat(answer.body()).isEqualTo("no AdmissionReview of version v1 with a request\n");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fast ", "fast\\n", "a/b", "..", "slow"})
    void aPodWhoseProfileCannotBeFoundIsRefused(String profile, KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create();
        try (Webhook webhook = new Webhook(client, namespace);
                LogLines log = LogLines.of(PodAdmission.class)) {
            HttpResponse<String> answer = webhook.post("""
                    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
                     "operation": "CREATE", "namespace": "%s", "object": {"apiVersion": "v1", "kind": "Pod", "metadata":
                     {"annotations": {"sidewarp.io/inject": "enabled", "sidewarp.io/profile": "%s"}},
                     "spec": {"containers": [{"name": "app"}]}}}}
                    """.formatted(namespace, profile));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("\"allowed\":false").contains("sidewarp.io/profile");
            assertThat(log.all())
                    .singleElement()
                    .asString()
                    .startsWith("event=pod-refused")
                    .doesNotContain("\n");
        }
    }

    @Test
    void theLogTellsOfARefusedPodInOneShortLineWhateverItHas(KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create();
        try (Webhook webhook = new Webhook(client, namespace);
                LogLines log = LogLines.of(PodAdmission.class)) {
            HttpResponse<String> answer = webhook.post("""
                    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
                     "operation": "CREATE", "namespace": "%s", "object": {"apiVersion": "v1", "kind": "Pod", "metadata":
                     {"annotations": {"sidewarp.io/inject": "enabled", "sidewarp.io/rnics": "1\\u009b2J\\" reason=\\"%s"}},
                     "spec": {"containers": [{"name": "app"}]}}}}
                    """.formatted(namespace, "x".repeat(100_000)));

            assertThat(answer.body()).contains("\"allowed\":false").hasSizeLessThan(1_000);
            assertThat(log.all())
                    .singleElement()
                    .asString()
                    .startsWith("event=pod-refused namespace=\"" + namespace + "\" reason=\"the annotation")
                    .contains("is \\\"1?2J\\\" reason=\\\"xxx")
                    .endsWith("it can be a number from 0 to 16\"")
                    .hasSizeLessThan(1_000)
                    .doesNotContainPattern("[\\x00-\\x1f\\x7f-\\x9f]");
        }
    }

    @ParameterizedTest
    @CsvSource({"enabled, true", "disabled, false"})
    void namesThatNobodyHeedsAreTold(String inject, boolean patched, KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create();
        try (Webhook webhook = new Webhook(client, namespace)) {
            JsonNode response = new ObjectMapper()
                    .readTree(webhook.post("""
                    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
                     "operation": "CREATE", "namespace": "%s", "object": {"apiVersion": "v1", "kind": "Pod", "metadata":
                     {"annotations": {"sidewarp.io/inject": "%s", "sidewarp.io/rnic": "1", "example.com/rnics": "1"},
                      "labels": {"sidewarp.io/inject": "enabled", "sidewarp.io/sidecar": "true"}},
                     "spec": {"containers": [{"name": "app"}]}}}}
                    """.formatted(namespace, inject)).body())
                    .at("/response");

            assertThat(response.has("patch")).isEqualTo(patched);
            assertThat(response.at("/warnings"))
                    .extracting(JsonNode::asText)
                    .satisfiesExactly(
                            annotation -> assertThat(annotation)
                                    .startsWith("sidewarp: the annotation sidewarp.io/rnic has no effect")
                                    .contains("sidewarp.io/rnics"),
                            label -> assertThat(label)
                                    .startsWith("sidewarp: the label sidewarp.io/inject has no effect"));
        }
    }

    @Test
    void theAuthorOfAJobFindsAWarningInAnEventOfTheJob(KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create();
        String review = """
                {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
                 "operation": "CREATE", "namespace": "%s", "dryRun": %s, "object": {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"annotations": {"sidewarp.io/inject": "enabled", "%s": "1"}, "ownerReferences":
                 [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "train-1", "controller": true}]},
                 "spec": {"containers": [{"name": "app"}]}}}}
                """;
        try (Webhook webhook = new Webhook(client, namespace)) {
            webhook.post(review.formatted(namespace, true, "sidewarp.io/dry"));
            for (int i = 0; i < 2; i++) {
                webhook.post(review.formatted(namespace, false, "sidewarp.io/first"));
            }
            webhook.post(review.formatted(namespace, false, "sidewarp.io/last"));

            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(client.v1()
                                    .events()
                                    .inNamespace(namespace)
                                    .list()
                                    .getItems())
                            .extracting(Event::getMessage)
                            .anySatisfy(message -> assertThat(message).contains("sidewarp.io/last")));
            assertThat(client.v1().events().inNamespace(namespace).list().getItems())
                    .hasSize(2)
                    .allSatisfy(event -> {
                        assertThat(event.getInvolvedObject().getKind()).isEqualTo("Job");
                        assertThat(event.getInvolvedObject().getName()).isEqualTo("train");
                        assertThat(event.getInvolvedObject().getUid()).isEqualTo("train-1");
                        assertThat(event.getType()).isEqualTo("Warning");
                        assertThat(event.getReason()).isEqualTo("SidewarpWarning");
                    })
                    .extracting(Event::getMessage)
                    .anySatisfy(message ->
                            assertThat(message).startsWith("sidewarp: the annotation sidewarp.io/first has no effect"));
        }
    }

    @Test
    void aNodeThatIsTooOldMakesSidecarsOrdinaryContainers(KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        assumeTrue(
                KubernetesFeature.NATIVE_SIDECARS.isIn(client.getKubernetesVersion()),
                "the API server has no native sidecars");
        String namespace = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        Node node = node("v1.27.3", "linux");
        try (Webhook webhook = new Webhook(client, namespace)) {
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(webhook.patch(namespace)).contains("/initContainers"));
            client.resource(node).create();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(webhook.patch(namespace)).doesNotContain("/initContainers"));
            client.nodes().withName(node.getMetadata().getName()).editStatus(old -> {
                old.getStatus().getNodeInfo().setKubeletVersion("v1.29.0+k3s1");
                return old;
            });
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(webhook.patch(namespace)).contains("/initContainers"));
        } finally {
            client.resource(node).delete();
        }
    }

    @Test
    void aDecisionIsPartOfTheTraceOfWhoAsks(KubernetesClient client, TestNamespaces namespaces) throws Exception {
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        String parent = "00f067aa0ba902b7";
        String namespace = namespaces.create();
        EndedSpans spans = new EndedSpans();
        try (OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
                        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                        .setTracerProvider(SdkTracerProvider.builder()
                                .addSpanProcessor(SimpleSpanProcessor.create(spans))
                                .build())
                        .build();
                Webhook webhook = new Webhook(client, namespace, telemetry)) {
            webhook.post(REVIEW.formatted(namespace, ""), "traceparent", "00-" + trace + "-" + parent + "-01");
            webhook.post(REVIEW.formatted(namespace, ""));
        }

        assertThat(spans.ended()).extracting(SpanData::getName).containsExactly("admit pod", "admit pod");
        assertThat(spans.ended().getFirst().getTraceId()).isEqualTo(trace);
        assertThat(spans.ended().getFirst().getParentSpanId()).isEqualTo(parent);
        assertThat(spans.ended().getLast().getTraceId()).isNotEqualTo(trace);
    }

    @Test
    void aPodIsCountedOnceAlthoughTheApiServerAsksAgain(KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String namespace = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        try (Webhook webhook = new Webhook(client, namespace)) {
            ObjectMapper mapper = new ObjectMapper();
            JsonNode review = mapper.readTree(REVIEW.formatted(namespace, ""));
            ObjectNode request = (ObjectNode) review.get("request");

            request.set("object", JsonPatch.apply(mapper.readTree(webhook.patch(namespace)), request.get("object")));
            webhook.post(review.toString());

            assertThat(webhook.counted("injected")).isEqualTo(1);
            assertThat(webhook.counted("injected-before")).isEqualTo(1);
        }
    }

    /** Alerts want a series before there is anything to count. */
    @Test
    void eachDecisionHasACounterBeforeThereIsOne(KubernetesClient client, TestNamespaces namespaces) throws Exception {
        try (Webhook webhook = new Webhook(client, namespaces.create())) {
            assertThat(webhook.meters.find("sidewarp.operator.admissions").counters())
                    .extracting(counter -> counter.getId().getTag("decision"))
                    .containsExactlyInAnyOrder(
                            "injected",
                            "injected-before",
                            "refused",
                            "not-asked-for",
                            "opted-out",
                            "never-completes",
                            "not-linux",
                            "mirror-pod");
        }
    }

    /** A webhook that listens, and a client that trusts it. */
    private static final class Webhook implements AutoCloseable {
        final MeterRegistry meters = new SimpleMeterRegistry();
        private final CertificateStore certificates;
        private final ClusterFeatures features;
        private final WebhookServer server;
        private final HttpClient http;

        Webhook(KubernetesClient client, String namespace) throws GeneralSecurityException, IOException {
            this(client, namespace, OpenTelemetry.noop());
        }

        Webhook(KubernetesClient client, String namespace, OpenTelemetry telemetry)
                throws GeneralSecurityException, IOException {
            OperatorConfig config = TestSettings.of(Map.of(
                    "sidewarp.operator.namespace", namespace,
                    "sidewarp.operator.webhook.host", "127.0.0.1",
                    "sidewarp.operator.webhook.port", "0",
                    "sidewarp.operator.webhook.certificate-names", "127.0.0.1"));
            certificates = new CertificateStore(client, config);
            features = new ClusterFeatures(client);
            features.start();
            server = new WebhookServer(
                    config,
                    certificates,
                    new NamespaceFacts(client, features, () -> IdentityOffer.NONE),
                    new EventRecorder(client, "sidewarp-controller"),
                    client,
                    meters,
                    telemetry);
            server.start();
            await().atMost(LIMIT).until(() -> server.port() != 0);
            http = HttpClient.newBuilder().sslContext(trust(certificates)).build();
        }

        HttpResponse<String> post(String review, String... headers) throws IOException, InterruptedException {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create("https://127.0.0.1:" + server.port() + WebhookServer.PATH))
                    .POST(HttpRequest.BodyPublishers.ofString(review))
                    .timeout(LIMIT);
            if (headers.length > 0) {
                request.headers(headers);
            }
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }

        double counted(String decision) {
            return meters.counter("sidewarp.operator.admissions", "decision", decision)
                    .count();
        }

        /** Returns the patch for a pod. */
        String patch(String namespace) throws IOException, InterruptedException {
            String answer = post(REVIEW.formatted(namespace, "")).body();
            return new String(
                    Base64.getDecoder()
                            .decode(new ObjectMapper()
                                    .readTree(answer)
                                    .at("/response/patch")
                                    .asText()),
                    StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            http.close();
            server.close();
            features.close();
            certificates.close();
        }
    }

    private static Node node(String kubelet, String system) {
        return Yaml.parse(
                "{apiVersion: v1, kind: Node, metadata: {name: webhook-test}, status: {nodeInfo: {kubeletVersion: "
                        + kubelet + ", operatingSystem: " + system + ", architecture: amd64, bootID: x,"
                        + " containerRuntimeVersion: x, kernelVersion: x, kubeProxyVersion: x, machineID: x, osImage: x,"
                        + " systemUUID: x}}}",
                Node.class);
    }

    private static SSLContext trust(CertificateStore certificates) throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        byte[] authorities = certificates.authorities().orElseThrow().getBytes(StandardCharsets.UTF_8);
        trusted.setCertificateEntry(
                "authority",
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(authorities)));
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
