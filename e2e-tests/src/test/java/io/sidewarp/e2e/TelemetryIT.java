// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.sidewarp.client.Access;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.operator.testing.OtlpReceiver;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests health, metrics and traces of a packaged sidecar. */
@ExtendWith(Logs.class)
class TelemetryIT {

    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String CALLER = "b7ad6b7169203331";

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void healthAndMetricsAnswer() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.start("metrics");
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("metrics")) {
            URI management = sidecar.management();
            for (String path : List.of("/q/health", "/q/health/live", "/q/health/ready", "/q/health/group/outbound")) {
                assertThat(get(management, path).statusCode()).as(path).isEqualTo(200);
                assertThat(get(management, path).body()).contains("\"UP\"");
            }
            ManagedRegion source = session.registerManaged(1000);
            ManagedRegion target = session.registerManaged(1000, Access.REMOTE_WRITE);
            Link link = Link.connect(session, session);
            link.initiator().write(source.slice(), target.address());

            HttpResponse<String> metrics = get(management, "/q/metrics");
            assertThat(metrics.statusCode()).isEqualTo(200);
            assertThat(metrics.headers().firstValue("Content-Type").orElse("")).startsWith("text/plain");
            assertThat(samples(metrics.body(), "sidewarp_connections")).isNotEmpty();
            // A write is complete at this side before it has arrived at the other.
            Patience.await("the write is counted at both ends").untilAsserted(() -> {
                String counted = get(management, "/q/metrics").body();
                for (String direction : List.of("in", "out")) {
                    assertThat(samples(counted, "sidewarp_payload_bytes_total"))
                            .anyMatch(sample -> isWrite(sample, direction) && sample.endsWith(" 1000.0"));
                    assertThat(samples(counted, "sidewarp_messages_total"))
                            .anyMatch(sample -> isWrite(sample, direction) && sample.endsWith(" 1.0"));
                }
            });
        }
    }

    @Test
    void errorsAreCountedByLayerTypeAndCode() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.start("terminates");
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("terminates")) {
            ManagedRegion source = session.registerManaged(1000);
            ManagedRegion target = session.registerManaged(1000);
            Link link = Link.connect(session, session);
            link.initiator().write(source.slice(), target.address());
            Patience.get(link.initiator().closed());
            Patience.get(link.responder().closed());

            assertThat(samples(get(sidecar.management(), "/q/metrics").body(), "sidewarp_terminates"))
                    .anyMatch(sample -> sample.contains("direction=\"out\"") && isInvalidStag(sample))
                    .anyMatch(sample -> sample.contains("direction=\"in\"") && isInvalidStag(sample));
            assertThatThrownBy(() -> link.initiator().close())
                    .isInstanceOf(SidewarpException.class)
                    .hasMessageContaining("may not have arrived");
        }
    }

    @Test
    void aSpanOfEachCallContinuesTheCallersTrace() {
        SpanContext caller =
                SpanContext.createFromRemoteParent(TRACE, CALLER, TraceFlags.getSampled(), TraceState.getDefault());
        try (OtlpReceiver collector = new OtlpReceiver();
                SidecarProcess sidecar = SidecarProcess.with("traces")
                        .set("otel.exporter.otlp.endpoint", collector.endpoint())
                        .set("otel.bsp.schedule.delay", "100")
                        .start();
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("traces")) {
            try (Scope scope = Span.wrap(caller).makeCurrent()) {
                session.registerManaged(1000);
                Link.connect(session, session);
            }
            Patience.await("the spans arrive")
                    .untilAsserted(() -> assertThat(collector.spans())
                            .filteredOn(span -> span.traceId().equals(TRACE)
                                    && span.parentId().equals(CALLER))
                            .extracting(OtlpReceiver.Span::name)
                            .anyMatch(name -> name.endsWith("MemoryService/RegisterRegion"))
                            .anyMatch(name -> name.endsWith("ConnectionService/Connect")));
        }
    }

    @Test
    void aCollectorThatIsNotThereDoesNotHoldUpTheStop() {
        try (SidecarProcess sidecar = SidecarProcess.with("no-collector")
                        .set("otel.exporter.otlp.endpoint", "http://127.0.0.1:9")
                        .start();
                SidewarpClient client = sidecar.client()) {
            client.openSession("no-collector").close();
            assertThat(client.device().provider()).isEqualTo("software");
            assertThat(sidecar.stop()).isIn(ExitCodes.OK, ExitCodes.TERMINATED);
        }
    }

    @Test
    void aCollectorThatNeverAnswersDoesNotHoldUpTheStop() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                SidecarProcess sidecar = SidecarProcess.with("silent-collector")
                        .set("otel.exporter.otlp.endpoint", "http://127.0.0.1:" + silent.getLocalPort())
                        .set("otel.bsp.schedule.delay", "10")
                        .start();
                SidewarpClient client = sidecar.client()) {
            client.openSession("silent-collector").close();
            assertThat(sidecar.stop()).isIn(ExitCodes.OK, ExitCodes.TERMINATED);
        }
    }

    private static boolean isWrite(String sample, String direction) {
        return sample.contains("operation=\"write\"") && sample.contains("direction=\"" + direction + "\"");
    }

    private static boolean isInvalidStag(String sample) {
        return sample.contains("layer=\"ddp\"") && sample.contains("type=\"1\"") && sample.contains("code=\"0\"");
    }

    private HttpResponse<String> get(URI base, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve(path))
                .timeout(Patience.LIMIT)
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static List<String> samples(String metrics, String name) {
        return metrics.lines().filter(line -> line.startsWith(name)).toList();
    }
}
