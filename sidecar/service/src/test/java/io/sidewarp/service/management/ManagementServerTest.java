// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.management;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.Http;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.SidewarpConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the management port with clients that use too many resources. */
class ManagementServerTest {

    private static final int REQUESTS = 3000;
    private static final int CONNECTIONS = 2;
    private static final int SECONDS = 20;

    /** Collections of metrics that the server asks for, which the tests do. */
    private final LinkedBlockingQueue<Runnable> collections = new LinkedBlockingQueue<>();

    private Transports transports;
    private Telemetry telemetry;
    private ManagementServer server;

    @BeforeEach
    void start() throws IOException {
        SidewarpConfig config = TestSidecar.config(
                Path.of("/dev/shm/none"), "sidewarp.management.connections", Integer.toString(CONNECTIONS));
        transports = new Transports(1, Duration.ZERO);
        telemetry = Telemetry.create(config.advanced().telemetry(), "test", Map.of());
        server = new ManagementServer(transports, config.management(), new HealthState(), telemetry, collections::add);
        server.start();
    }

    @AfterEach
    void stop() {
        server.close();
        transports.close();
        telemetry.close();
    }

    @Test
    void aClientThatDoesNotReadHasOneAnswerHereAndGetsAllOfThemOnceItReads() throws Exception {
        try (Socket client = new Socket()) {
            client.setReceiveBufferSize(4096);
            client.connect(server.address());
            CompletableFuture<Void> sent = request(client, "GET /q/metrics HTTP/1.1\r\n\r\n".repeat(REQUESTS));

            int collected = 0;
            for (Runnable next = collections.take(); next != null && collected < REQUESTS; collected++) {
                assertThat(collections).isEmpty();
                next.run();
                // None comes once the sockets between are full.
                next = collections.poll(1, TimeUnit.SECONDS);
            }
            assertThat(collected).isLessThan(REQUESTS);

            CompletableFuture<Long> answers = answers(client);
            for (; collected < REQUESTS; collected++) {
                collections.poll(SECONDS, TimeUnit.SECONDS).run();
            }
            assertThat(answers.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(REQUESTS);
            sent.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void oneConnectionMoreThanThereMayBeTakesThePlaceOfTheOldest() throws IOException {
        try (Socket oldest = connect();
                Socket other = connect()) {
            assertThat(Http.get(server.address(), "/q/health/live").statusCode())
                    .isEqualTo(200);

            assertThat(oldest.getInputStream().read()).isNegative();
            other.getOutputStream().write("GET /q/health/live HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(reader(other).readLine()).isEqualTo("HTTP/1.1 200 OK");
        }
    }

    @Test
    void aBodyIsDiscardedAndWhatFollowsItIsAnsweredInTurn() throws IOException {
        try (Socket client = connect()) {
            int octets = 1 << 20;
            request(
                    client,
                    "POST / HTTP/1.1\r\nContent-Length: " + octets + "\r\n\r\n" + " ".repeat(octets)
                            + "GET /nothing HTTP/1.1\r\n\r\n"
                            + "GET /q/health/live HTTP/1.1\r\n\r\n"
                            + "and no HTTP\r\n\r\n");

            assertThat(reader(client).lines().filter(line -> line.startsWith("HTTP/")))
                    .containsExactly(
                            "HTTP/1.1 405 Method Not Allowed",
                            "HTTP/1.1 404 Not Found",
                            "HTTP/1.1 200 OK",
                            "HTTP/1.1 400 Bad Request");
        }
    }

    private Socket connect() throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(SECONDS * 1000);
        return socket;
    }

    /** Writes, as far as the server reads. */
    private static CompletableFuture<Void> request(Socket client, String requests) {
        return CompletableFuture.runAsync(() -> {
            try {
                client.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Reads so many answers that all requests have one. */
    private static CompletableFuture<Long> answers(Socket client) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return reader(client)
                        .lines()
                        .filter("HTTP/1.1 200 OK"::equals)
                        .limit(REQUESTS)
                        .count();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static BufferedReader reader(Socket client) throws IOException {
        return new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
    }
}
