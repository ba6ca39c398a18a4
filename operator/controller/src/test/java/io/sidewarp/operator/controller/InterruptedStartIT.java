// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ends the pod of the packaged controller before the controller has started. */
class InterruptedStartIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int TERMINATED = 128 + 15;
    private static final byte[] VERSION =
            "{\"major\": \"1\", \"minor\": \"31\", \"buildDate\": \"2026-01-01T00:00:00Z\"}".getBytes(UTF_8);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final ExecutorService exchanges = Executors.newVirtualThreadPerTaskExecutor();

    @TempDir
    private Path directory;

    private HttpServer server;

    /** An API server that has a version, and gives no other answer. */
    @BeforeEach
    void open() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(exchanges);
        server.createContext("/version", InterruptedStartIT::tellVersion);
        server.createContext("/", this::hold);
        server.start();
    }

    @AfterEach
    void close() {
        over.countDown();
        server.stop(0);
        exchanges.close();
    }

    private static void tellVersion(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, VERSION.length);
        exchange.getResponseBody().write(VERSION);
        exchange.close();
    }

    private void hold(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        if (path.endsWith("/secrets") || path.endsWith("/configmaps/sidewarp-operator")) {
            asked.countDown();
        }
        try (exchange) {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void oneWithoutAnApiServerEndsQuietly() throws Exception {
        server.stop(0);
        try (ControllerProcess controller = controller()) {
            await().atMost(LIMIT).until(() -> controller.log().contains("event=api-server-away"));

            assertEndsQuietly(controller);
        }
    }

    @Test
    void oneThatWaitsForItsFirstAnswersEndsQuietly() throws Exception {
        try (ControllerProcess controller = controller()) {
            await().atMost(LIMIT).until(() -> asked.getCount() == 0);

            assertEndsQuietly(controller);
            assertThat(controller.log()).contains("event=started").doesNotContain("level=WARN", "level=ERROR");
        }
    }

    /** Else Helm would go on as if the clean-up were done. */
    @Test
    void aCleanUpThatIsTerminatedHasFailed() throws Exception {
        try (ControllerProcess cleanUp = controller("uninstall")) {
            await().atMost(LIMIT).until(() -> asked.getCount() == 0);

            cleanUp.terminate();

            await().atMost(LIMIT).until(() -> !cleanUp.isAlive());
            assertThat(cleanUp.exitCode()).isEqualTo(TERMINATED);
        }
    }

    private static void assertEndsQuietly(ControllerProcess controller) throws Exception {
        controller.terminate();
        await().atMost(LIMIT).until(() -> !controller.isAlive());

        assertThat(controller.exitCode()).isZero();
        assertThat(controller.log()).doesNotContain("\tat ", "level=FATAL");
    }

    private ControllerProcess controller(String... arguments) throws IOException {
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: test, cluster: {server: "http://127.0.0.1:%d"}}]
                contexts: [{name: test, context: {cluster: test}}]
                current-context: test
                """.formatted(
                        server.getAddress().getPort()));
        return ControllerProcess.begin(kubeconfig, "test", Map.of(), arguments);
    }
}
