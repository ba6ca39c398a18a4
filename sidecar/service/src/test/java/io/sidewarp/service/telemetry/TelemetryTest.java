// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.Region;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TelemetryTest {

    private static final Path ROOT = Path.of(System.getProperty("sidewarp.root"));
    private static final Pattern SAMPLE = Pattern.compile("^([a-z_]+)(?:\\{(.*)\\})? (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"([^\"]*)\"");
    private static final Pattern ROW = Pattern.compile("^\\| `([a-z_]+)` \\| ([a-z]+) \\| (.*?) \\| .* \\|$");
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final int SIZE = 1000;

    @Test
    void operationsAreCountedByOperationAndDirectionOnBothSides() {
        try (TestSidecar left = TestSidecar.start();
                TestSidecar right = TestSidecar.start();
                TestSession client = left.session();
                TestSession server = right.session()) {
            useEverything(client, server);

            Map<String, Double> here = samples(left);
            Map<String, Double> there = samples(right);

            assertThat(here).containsEntry(messages("out", "write"), 3.0);
            assertThat(here).containsEntry(messages("out", "read"), 2.0);
            assertThat(here).containsEntry(messages("out", "send"), 1.0);
            assertThat(here).containsEntry(payload("out", "write"), 3.0 * SIZE);
            assertThat(here).containsEntry(payload("out", "read"), 2.0 * SIZE);
            assertThat(here).containsEntry(payload("out", "send"), 10.0);
            assertThat(there).containsEntry(messages("in", "write"), 3.0);
            assertThat(there).containsEntry(messages("in", "read"), 2.0);
            assertThat(there).containsEntry(messages("in", "send"), 1.0);
            assertThat(there).containsEntry(payload("in", "write"), 3.0 * SIZE);
            assertThat(there).containsEntry(payload("in", "read"), 2.0 * SIZE);
            assertThat(there).containsEntry(payload("in", "send"), 10.0);
            assertThat(here).containsEntry("sidewarp_sessions", 1.0);
            assertThat(here).containsEntry("sidewarp_registered_bytes", 2.0 * SIZE);
            assertThat(here)
                    .containsEntry(
                            "sidewarp_terminates_total{code=\"2\",direction=\"in\",layer=\"rdmap\",type=\"1\"}", 1.0);
            assertThat(there)
                    .containsEntry(
                            "sidewarp_terminates_total{code=\"2\",direction=\"out\",layer=\"rdmap\",type=\"1\"}", 1.0);
        }
    }

    @Test
    void octetsOfWorkThatWasCutOffAreNoneOfAPeerThatAskedForNothing() {
        try (Telemetry telemetry = Telemetry.create(
                TestSidecar.config(Path.of("/dev/shm/none")).advanced().telemetry(), "test", Map.of())) {
            // A Send and half of a Read, which both were flushed.
            telemetry.work().passive().update(new QueuePairCounters(100, 50, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2, 1), 0, 0);

            Map<String, Double> samples =
                    samples(new String(telemetry.scrape(null).body(), StandardCharsets.UTF_8));

            assertThat(samples).containsEntry(payload("in", "read"), 0.0);
            assertThat(samples).containsEntry(payload("in", "write"), 0.0);
        }
    }

    @Test
    void whatAlertsLookAtHasACountBeforeThereIsAnythingToCount() {
        try (TestSidecar sidecar = TestSidecar.start()) {
            Map<String, Double> samples = samples(sidecar);

            for (String reason : List.of(
                    "rejected",
                    "unreachable",
                    "timeout",
                    "protocol",
                    "security",
                    "invalid_parameters",
                    "aborted",
                    "internal")) {
                assertThat(samples).containsEntry(failures(reason, "initiator"), 0.0);
                assertThat(samples).containsEntry(failures(reason, "responder"), 0.0);
            }
            for (String reason : List.of("tls_required", "not_permitted", "certificate")) {
                assertThat(samples).containsEntry("sidewarp_connections_denied_total{reason=\"" + reason + "\"}", 0.0);
            }
            assertThat(samples).containsEntry(failures("startup", "responder"), 0.0);
            assertThat(samples).containsEntry(failures("limit", "responder"), 0.0);
            assertThat(samples).doesNotContainKey(failures("limit", "initiator"));
            assertThat(samples).containsEntry("sidewarp_connections_established_total{role=\"initiator\"}", 0.0);
        }
    }

    private static String failures(String reason, String role) {
        return "sidewarp_startup_failures_total{reason=\"" + reason + "\",role=\"" + role + "\"}";
    }

    @Test
    void theDocumentationNamesTheMetricsAndLabelsThatThereAre() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/telemetry.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                documented.put(
                        row.group(1) + " " + row.group(2),
                        row.group(3).replace("`", "").replace(", ", ","));
            }
        }
        try (TestIdentity identity = new TestAuthority("example.org").identity("cart");
                TestSidecar left = TestSidecar.start(identity.settings(
                        "sidewarp.connection.timeout", "1s", "sidewarp.limits.registered-octets", "10000"));
                TestSidecar right = TestSidecar.start();
                TestSession client = left.session();
                TestSession server = right.session()) {
            useEverything(client, server);
            failToStartUp(client);
            assertThat(Waiting.status(() -> client.managed(10_001)).getCode())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            Map<String, String> real = new TreeMap<>();
            Awaitility.await().untilAsserted(() -> {
                real.clear();
                collectMetrics(left.get("/q/metrics"), real);
                assertThat(real).isEqualTo(documented);
            });
        }
    }

    @Test
    void theTraceOfTheCallerGoesOnInCallsAndConnections() throws IOException {
        try (Collector collector = new Collector()) {
            try (TestSidecar left = TestSidecar.start(Map.of(
                            "otel.exporter.otlp.endpoint", collector.endpoint(), "otel.bsp.schedule.delay", "50"));
                    TestSidecar right = TestSidecar.start();
                    TestSession client = left.session();
                    TestSession server = right.session()) {
                Connection connection = connectWithTrace(client, server);
                client.connections()
                        .disconnect(DisconnectRequest.newBuilder()
                                .setSession(client.token())
                                .setConnection(connection.getId())
                                .build());

                Awaitility.await()
                        .until(() -> collector.spans().stream()
                                .anyMatch(span -> span.name().equals("connection")));
            }
            Collector.CollectedSpan call = span(collector, "sidewarp.v1.ConnectionService/Connect");
            Collector.CollectedSpan connection = span(collector, "connection");
            assertThat(call.trace()).isEqualTo(TRACE);
            assertThat(call.parent()).isEqualTo("b7ad6b7169203331");
            assertThat(connection.trace()).isEqualTo(TRACE);
            assertThat(connection.parent()).isEqualTo(call.id());
            assertThat(connection.events()).contains("established", "state");
            assertThat(collector.metrics()).contains("sidewarp.messages", "sidewarp.connections");
        }
    }

    @Test
    void theSpanOfAConnectionThatDoesNotComeAboutTellsThePeer() throws IOException {
        try (Collector collector = new Collector()) {
            try (TestSidecar sidecar = TestSidecar.start(Map.of(
                            "otel.exporter.otlp.endpoint", collector.endpoint(), "otel.bsp.schedule.delay", "50"));
                    TestSession client = sidecar.session()) {
                var request = client.connectRequest(1).build();
                assertThatThrownBy(() -> client.connections().connect(request))
                        .isInstanceOf(StatusRuntimeException.class);

                Awaitility.await()
                        .until(() -> collector.spans().stream()
                                .anyMatch(span -> span.name().equals("connection")));
            }
            assertThat(span(collector, "connection").attributes())
                    .contains("network.peer.address", "network.peer.port");
        }
    }

    @Test
    void anEmptyEndpointExportsNothing() {
        assertThat(isTracing(Map.of("otel.exporter.otlp.endpoint", ""))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "otel.exporter.otlp.endpoint",
                "otel.exporter.otlp.protocol",
                "otel.traces.exporter",
                "otel.traces.sampler"
            })
    void anEmptyPropertyCountsAsNotSet(String property) {
        assertThat(isTracing(Map.of("otel.exporter.otlp.traces.endpoint", "http://127.0.0.1:1", property, "")))
                .isTrue();
    }

    private static boolean isTracing(Map<String, String> properties) {
        Path directory = TestSidecar.newDirectory();
        try (Telemetry telemetry =
                Telemetry.create(TestSidecar.config(directory).advanced().telemetry(), "test", properties)) {
            return telemetry.isTracing();
        } finally {
            TestSidecar.delete(directory);
        }
    }

    private static Connection connectWithTrace(TestSession client, TestSession server) {
        Metadata headers = new Metadata();
        headers.put(
                Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER),
                "00-" + TRACE + "-b7ad6b7169203331-01");
        try (TestSession.Listening listening = server.listen()) {
            var request = client.connectRequest(listening.port()).build();
            CompletableFuture<Connection> connecting = CompletableFuture.supplyAsync(() -> client.connections()
                    .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                    .connect(request)
                    .getConnection());
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build());
            return connecting.join();
        }
    }

    private static Collector.CollectedSpan span(Collector collector, String name) {
        return collector.spans().stream()
                .filter(span -> span.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Three writes, two reads, a send, and a read that the peer refuses. */
    private static void useEverything(TestSession client, TestSession server) {
        Region source = client.managed(SIZE);
        Region sink = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        Region target =
                server.managed(SIZE, Access.ACCESS_LOCAL_WRITE, Access.ACCESS_REMOTE_READ, Access.ACCESS_REMOTE_WRITE);
        Region closed = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        long connection = pair.here().getId();
        try (TestQueue receiver = server.queue(1);
                TestQueue queue = client.queue(10)) {
            receiver.credits();
            receiver.post(
                    Works.receive(1, pair.there().getId(), target, 0, SIZE).build());
            server.device().getDevice(GetDeviceRequest.getDefaultInstance());
            queue.credits();
            queue.post(
                    Works.write(1, connection, source, target, SIZE).build(),
                    Works.write(2, connection, source, target, SIZE).build(),
                    Works.write(3, connection, source, target, SIZE).build(),
                    Works.read(4, connection, sink, target, SIZE).build(),
                    Works.read(5, connection, sink, target, SIZE).build(),
                    Works.send(6, connection, source, 10).build());
            queue.next(6);
            receiver.next();
            queue.post(Works.read(7, connection, sink, closed, SIZE).build());
            assertThat(queue.next().hasError()).isTrue();
        }
        Awaitility.await()
                .until(() -> client.device()
                                        .listSessions(ListSessionsRequest.getDefaultInstance())
                                        .getSessions(0)
                                        .getConnections()
                                == 0
                        && server.device()
                                        .listSessions(ListSessionsRequest.getDefaultInstance())
                                        .getSessions(0)
                                        .getConnections()
                                == 0);
    }

    /** A peer that talks nonsense, and one that does not talk. */
    private static void failToStartUp(TestSession session) {
        try (TestSession.Listening listening = session.listen();
                Socket peer = new Socket(InetAddress.getLoopbackAddress(), listening.port())) {
            OutputStream out = peer.getOutputStream();
            out.write(
                    "GET / HTTP/1.1\r\n\r\n01234567890123456789".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            out.flush();
            assertThat(peer.getInputStream().read()).isEqualTo(-1);
        } catch (IOException e) {
            // The sidecar may reset the connection.
            assertThat(e).isNotNull();
        }
    }

    private static Map<String, Double> samples(TestSidecar sidecar) {
        return samples(sidecar.get("/q/metrics"));
    }

    private static Map<String, Double> samples(String exposition) {
        Map<String, Double> samples = new TreeMap<>();
        for (String line : exposition.lines().toList()) {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches()) {
                Set<String> labels = labels(sample.group(2), true);
                samples.put(
                        sample.group(1) + (labels.isEmpty() ? "" : "{" + String.join(",", labels) + "}"),
                        Double.valueOf(sample.group(3)));
            }
        }
        return samples;
    }

    /** Name and type, with the names of the labels. */
    private static void collectMetrics(String exposition, Map<String, String> into) {
        Map<String, String> types = new TreeMap<>();
        for (String line : exposition.lines().toList()) {
            if (line.startsWith("# TYPE ")) {
                List<String> words = List.of(line.split(" ", -1));
                types.put(words.get(2), words.get(3));
            }
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches() && !sample.group(1).equals("target_info")) {
                String name = sample.group(1).replaceAll("_(bucket|count|sum)$", "");
                Set<String> labels = labels(sample.group(2), false);
                labels.remove("le");
                into.put(name + " " + types.get(name), String.join(",", labels));
            }
        }
    }

    private static Set<String> labels(String text, boolean values) {
        Set<String> labels = new TreeSet<>();
        Matcher label = LABEL.matcher(text == null ? "" : text);
        while (label.find()) {
            if (!label.group(1).startsWith("otel_scope")) {
                labels.add(values ? label.group() : label.group(1));
            }
        }
        return labels;
    }

    private static String messages(String direction, String operation) {
        return "sidewarp_messages_total{direction=\"" + direction + "\",operation=\"" + operation + "\"}";
    }

    private static String payload(String direction, String operation) {
        return "sidewarp_payload_bytes_total{direction=\"" + direction + "\",operation=\"" + operation + "\"}";
    }
}
