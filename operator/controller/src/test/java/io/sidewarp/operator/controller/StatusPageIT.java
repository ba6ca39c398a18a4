// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.testing.Browser;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the status page of the packaged controller. With {@code -Dsidewarp.screenshots=DIRECTORY}, writes the picture of
 * the documentation.
 */
@RealApiServer
class StatusPageIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int WIDTH = 1280;
    private static final int HEIGHT = 1000;

    @TempDir
    private Path directory;

    @BeforeAll
    static void install(KubernetesClient client) {
        OwnDefinitions.install(client);
    }

    @AfterEach
    void remove(KubernetesClient client) {
        ControllerProcess.unregisterWebhook(client);
        client.resources(IwarpNicPolicy.class)
                .list()
                .getItems()
                .forEach(policy -> client.resource(policy).edit(left -> {
                    left.getMetadata().setFinalizers(List.of());
                    return left;
                }));
        client.resources(IwarpNicPolicy.class).delete();
        client.resources(IwarpNode.class).delete();
        client.nodes().delete();
    }

    @Test
    void pageIsForClientsOnTheSameHost(KubeApiServer server, TestNamespaces namespaces) throws Exception {
        try (ControllerProcess controller = ControllerProcess.start(server, namespaces.create(), Map.of())) {
            for (String path : List.of("/status", "/status.json")) {
                assertThat(get(controller, path, "127.0.0.1", "localhost"))
                        .startsWith("HTTP/1.1 200 ")
                        .containsIgnoringCase("content-security-policy: default-src 'none'; script-src 'sha256-")
                        .containsIgnoringCase("x-content-type-options: nosniff")
                        .containsIgnoringCase("cache-control: no-store");
                assertThat(get(controller, path, "127.0.0.6", "localhost")).startsWith("HTTP/1.1 404 ");
                assertThat(get(controller, path, "127.0.0.1", "rebound.example"))
                        .startsWith("HTTP/1.1 404 ");
            }
        }
        try (ControllerProcess controller = ControllerProcess.start(
                server, namespaces.create(), Map.of("SIDEWARP_OPERATOR_STATUS_PAGE", "false"))) {
            assertThat(get(controller, "/status", "127.0.0.1", "localhost")).startsWith("HTTP/1.1 404 ");
            assertThat(get(controller, "/status.json", "127.0.0.1", "localhost"))
                    .startsWith("HTTP/1.1 404 ");
        }
    }

    @Test
    void pageShowsTheCluster(KubeApiServer server, KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        Optional<Path> program = Browser.program();
        assumeTrue(program.isPresent(), "Chromium is missing; Debian has it in chromium-headless-shell");
        String applications = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        try (ControllerProcess controller = ControllerProcess.start(server, namespaces.create(), Map.of())) {
            cluster(client, applications);
            controller.registerWebhook(client, applications);
            client.pods()
                    .inNamespace(applications)
                    .resource(ControllerProcess.pod("trainer-0"))
                    .create();
            refused(client, applications);
            try (Browser browser = Browser.open(
                    program.get(), directory, URI.create("http://127.0.0.1:" + controller.httpPort() + "/status"))) {
                browser.appearance(WIDTH, HEIGHT, false);
                await().atMost(LIMIT)
                        .ignoreExceptionsInstanceOf(IllegalStateException.class)
                        .untilAsserted(() -> assertThat(browser.evaluate("document.querySelector('main').textContent"))
                                .contains(
                                        "worker-1/ens1f0", "100 Gbit/s", "1 of 2 are used", applications + "/trainer-0")
                                .contains("Progressing: ", "not reported yet", "injected", "refused")
                                .contains("Degraded: Invalid"));
                String screenshots = System.getProperty("sidewarp.screenshots", "");
                browser.screenshot((screenshots.isEmpty() ? Path.of("target") : Path.of("../..", screenshots))
                        .resolve("status-controller.png"));
                assertThat(browser.problems()).isEmpty();
            }
        }
    }

    /** Creates nodes, one of them with a report of its agent, a policy and profiles. */
    private static void cluster(KubernetesClient client, String namespace) {
        for (String name : List.of("worker-1", "worker-2")) {
            client.resource(Yaml.parse("{apiVersion: v1, kind: Node, metadata: {name: " + name + "}}", Node.class))
                    .create();
        }
        client.resource(Yaml.parse("""
                        apiVersion: sidewarp.io/v1alpha1
                        kind: IwarpNicPolicy
                        metadata: {name: e810}
                        spec: {nicSelector: {vendors: ["8086"]}, virtualFunctions: 2}
                        """, IwarpNicPolicy.class)).create();
        for (String profile : List.of("default, settings: {}", "broken, settings: {sidewarp.limits.regions: many}")) {
            String[] nameAndSpec = profile.split(", ", 2);
            client.resource(Yaml.parse(
                            "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: "
                                    + nameAndSpec[0] + ", namespace: " + namespace + "}, spec: {" + nameAndSpec[1]
                                    + "}}",
                            SidecarProfile.class))
                    .create();
        }
        await().atMost(LIMIT)
                .until(() ->
                        client.resources(IwarpNode.class).withName("worker-1").get() != null);
        IwarpNode reported =
                Yaml.parse("""
                apiVersion: sidewarp.io/v1alpha1
                kind: IwarpNode
                metadata: {name: worker-1}
                status:
                  observedGeneration: 1
                  lastReportTime: "%s"
                  activeProvider: Hardware
                  devices: 2
                  nodeState: Done
                  conditions:
                  - {type: Ready, status: "True", reason: Done, message: All policies are carried out., lastTransitionTime: "%1$s"}
                  nics:
                  - name: ens1f0
                    pciAddress: "0000:3b:00.0"
                    vendor: "8086"
                    device: "1593"
                    driver: ice
                    rdmaDevice: iwp0
                    rdmaNodeType: RNIC
                    iwarp: true
                    linkState: Up
                    speedMbps: 100000
                    totalVirtualFunctions: 128
                    policy: e810
                    state: Done
                    virtualFunctions:
                    - {index: 0, pciAddress: "0000:3b:01.0", usedBy: "%2$s/trainer-0"}
                    - {index: 1, pciAddress: "0000:3b:01.1"}
                """.formatted(Instant.now().truncatedTo(ChronoUnit.SECONDS), namespace), IwarpNode.class);
        // A merge patch names no resourceVersion: the controller may write the object at the same time.
        client.resource(reported).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), reported);
    }

    private static void refused(KubernetesClient client, String namespace) {
        try {
            client.pods()
                    .inNamespace(namespace)
                    .resource(Yaml.parse(
                            "{apiVersion: v1, kind: Pod, metadata: {name: trainer-1, annotations:"
                                    + " {sidewarp.io/profile: broken}}, spec: {containers: [{name: app, image:"
                                    + " example/app}]}}",
                            Pod.class))
                    .create();
        } catch (KubernetesClientException e) {
            assertThat(e).hasMessageContaining("sidewarp: ");
        }
    }

    /** Returns the whole answer to a request from a local address. */
    private static String get(ControllerProcess controller, String path, String from, String host) throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout((int) LIMIT.toMillis());
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(from), 0));
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), controller.httpPort()));
            String request = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}
