// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The packaged controller as a process, with the memory limit and the JVM options that its container has by default.
 */
public final class ControllerProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofMinutes(2);
    private static final Duration REQUEST_LIMIT = Duration.ofMinutes(1);
    private static final long STOP_SECONDS = 20;

    /** Limit of the chart ({@code controller.resources}). The image takes a part of the limit for the heap. */
    public static final int MEMORY_LIMIT_MEBIBYTES = 512;

    /** As in the image. */
    private static final List<String> MEMORY_FLAGS = List.of(
            "-XX:MaxRAMPercentage=40",
            "-XX:ActiveProcessorCount=2",
            "-XX:ReservedCodeCacheSize=64m",
            "-XX:TrimNativeHeapInterval=10000");

    private static final String WEBHOOK = "sidewarp-test";

    private final HttpClient http = HttpClient.newHttpClient();
    private final int httpPort = KubeApiServer.freePort();
    private final int webhookPort = KubeApiServer.freePort();
    private final String namespace;
    private final Process process;
    private final TestResource remains;
    private final Path log;

    private ControllerProcess(Path kubeconfig, String namespace, Map<String, String> settings, String... arguments)
            throws IOException {
        this.namespace = namespace;
        Path jar = Path.of(System.getProperty("user.dir"), "target/quarkus-app/quarkus-run.jar");
        log = Files.createTempFile(Path.of("target"), "controller", ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:MaxRAM=" + MEMORY_LIMIT_MEBIBYTES + "m"));
        command.addAll(MEMORY_FLAGS);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        environment.put("MALLOC_ARENA_MAX", "2");
        environment.put("KUBECONFIG", kubeconfig.toString());
        environment.put("POD_NAMESPACE", namespace);
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(httpPort));
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_HOST", "127.0.0.1");
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_PORT", Integer.toString(webhookPort));
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES", "127.0.0.1");
        environment.put("SIDEWARP_OPERATOR_IDENTITY_HOST", "127.0.0.1");
        environment.put("SIDEWARP_OPERATOR_IDENTITY_PORT", "0");
        // No delay is needed, because the only API server is the test's.
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_SHUTDOWN_DELAY", "0s");
        environment.putAll(settings);
        process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        remains = TestResource.of(process);
    }

    /** Starts it, and returns when it is ready. */
    public static ControllerProcess start(KubeApiServer server, String namespace, Map<String, String> settings)
            throws IOException {
        ControllerProcess started = begin(server.kubeconfig(), namespace, settings);
        try {
            await().atMost(START_LIMIT)
                    .failFast(() -> !started.process.isAlive())
                    .until(() -> started.get("/q/health/ready").isPresent());
            return started;
        } catch (RuntimeException e) {
            try (started) {
                throw new IllegalStateException(Files.readString(started.log), e);
            }
        }
    }

    /** Starts it, and does not wait. */
    static ControllerProcess begin(Path kubeconfig, String namespace, Map<String, String> settings, String... arguments)
            throws IOException {
        return new ControllerProcess(kubeconfig, namespace, settings, arguments);
    }

    /** Returns the port of health, metrics and the status page. */
    int httpPort() {
        return httpPort;
    }

    private Optional<String> get(String path) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + httpPort + path))
                .timeout(REQUEST_LIMIT)
                // Requests plain text and not OpenMetrics, which has exemplars after the values.
                .header("Accept", "text/plain")
                .build();
        try {
            var answer = http.send(request, BodyHandlers.ofString());
            return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The sum of the samples of a metric whose labels contain {@code label}. */
    public double metric(String name, String label) throws InterruptedException {
        return samples(name, label).stream().mapToDouble(Double::doubleValue).sum();
    }

    private List<Double> samples(String name, String label) throws InterruptedException {
        return get("/q/metrics")
                .orElseThrow()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> line.contains(label))
                .map(line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)))
                .toList();
    }

    /** Most memory of the process that was in RAM at a time, in MiB. */
    public long mostResidentMebibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }

    /** Has the API server ask the webhook about pods of namespaces with the label; returns when it does. */
    public void registerWebhook(KubernetesClient client, String labelledNamespace) {
        Secret certificate = client.secrets()
                .inNamespace(namespace)
                .withName("sidewarp-webhook-certificate")
                .get();
        client.resource(Yaml.parse(
                        """
                        apiVersion: admissionregistration.k8s.io/v1
                        kind: MutatingWebhookConfiguration
                        metadata: {name: %s}
                        webhooks:
                        - name: pods.sidewarp.io
                          clientConfig: {url: "https://127.0.0.1:%d/mutate-pods", caBundle: "%s"}
                          namespaceSelector: {matchLabels: {sidewarp.io/inject: enabled}}
                          rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
                          sideEffects: None
                          admissionReviewVersions: [v1]
                          failurePolicy: Fail
                        """.formatted(
                                WEBHOOK, webhookPort, certificate.getData().get("ca.crt")),
                        MutatingWebhookConfiguration.class))
                .create();
        await().atMost(START_LIMIT)
                .until(() -> client.pods()
                                .inNamespace(labelledNamespace)
                                .resource(pod("asked-for"))
                                .dryRun()
                                .create()
                                .getSpec()
                                .getVolumes()
                                .size()
                        > 1);
    }

    /** Has the API server forget the webhook. */
    public static void unregisterWebhook(KubernetesClient client) {
        client.admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(WEBHOOK)
                .delete();
    }

    /** A pod with one container. */
    public static Pod pod(String name) {
        return Yaml.parse(
                "{apiVersion: v1, kind: Pod, metadata: {name: " + name
                        + "}, spec: {containers: [{name: app, image: example/app}]}}",
                Pod.class);
    }

    /** Asks it to end, as the kubelet does. */
    public void terminate() {
        process.destroy();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the exit status. */
    public int exitCode() {
        return process.exitValue();
    }

    /** Returns the output of the controller. */
    public String log() throws IOException {
        return Files.readString(log);
    }

    /** Ends it without warning; returns when it has ended. */
    public void crash() throws InterruptedException {
        process.destroyForcibly().waitFor(STOP_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        http.close();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        remains.forget();
    }
}
