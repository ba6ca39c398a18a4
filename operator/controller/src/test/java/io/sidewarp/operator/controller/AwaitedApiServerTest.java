// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.VersionInfo;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AwaitedApiServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void awaitLogsReasonOnceUntilServerAnswers() throws Exception {
        int port = freePort();
        try (LogLines lines = LogLines.of(AwaitedApiServer.class);
                KubernetesClient client = new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder()
                                .withMasterUrl("http://127.0.0.1:" + port)
                                .build())
                        .build()) {
            AwaitedApiServer server =
                    new AwaitedApiServer(client, TestSettings.of(Map.of("sidewarp.operator.api-server-retry", "1ms")));
            FutureTask<VersionInfo> waiting = new FutureTask<>(server::await);
            Thread.ofPlatform().daemon().start(waiting);

            await().atMost(LIMIT).until(() -> !lines.all().isEmpty());
            assertThat(waiting).isNotDone();
            HttpServer answering = answering(port);
            try {
                assertThat(waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS).getMinor())
                        .isEqualTo("31");
            } finally {
                answering.stop(0);
            }
            assertThat(lines.all())
                    .singleElement()
                    .asString()
                    .contains("event=api-server-away", "127.0.0.1:" + port, "refused", "action=");
        }
    }

    private static HttpServer answering(int port) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        byte[] version =
                "{\"major\": \"1\", \"minor\": \"31\", \"buildDate\": \"2026-01-01T00:00:00Z\"}".getBytes(UTF_8);
        server.createContext("/version", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, version.length);
            exchange.getResponseBody().write(version);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
