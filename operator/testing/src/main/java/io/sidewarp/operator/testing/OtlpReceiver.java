// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** A collector of traces. Receives spans from OTLP exporters over gRPC, and keeps their ids, names and attributes. */
public final class OtlpReceiver implements AutoCloseable {

    /**
     * A span; its ids are in hexadecimal digits.
     *
     * @param parentId id of the parent span; empty for the first span of a trace
     * @param attributes values as text; values that are neither string, Boolean nor integer are empty
     */
    public record Span(String traceId, String spanId, String parentId, String name, Map<String, String> attributes) {

        private static Span of(io.opentelemetry.proto.trace.v1.Span span) {
            return new Span(
                    hex(span.getTraceId()),
                    hex(span.getSpanId()),
                    hex(span.getParentSpanId()),
                    span.getName(),
                    span.getAttributesList().stream()
                            .collect(Collectors.toUnmodifiableMap(
                                    KeyValue::getKey, attribute -> text(attribute.getValue()))));
        }

        private static String hex(ByteString id) {
            return HexFormat.of().formatHex(id.toByteArray());
        }

        private static String text(AnyValue value) {
            return switch (value.getValueCase()) {
                case STRING_VALUE -> value.getStringValue();
                case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
                case INT_VALUE -> Long.toString(value.getIntValue());
                default -> "";
            };
        }
    }

    private final List<Span> spans = new CopyOnWriteArrayList<>();
    private final Server server;

    public OtlpReceiver() {
        try {
            server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addService(new Traces())
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the value for OTEL_EXPORTER_OTLP_ENDPOINT. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getPort();
    }

    /** Returns all spans received so far. */
    public List<Span> spans() {
        return spans;
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private final class Traces extends TraceServiceGrpc.TraceServiceImplBase {

        @Override
        public void export(ExportTraceServiceRequest request, StreamObserver<ExportTraceServiceResponse> responses) {
            request.getResourceSpansList().stream()
                    .flatMap(resource -> resource.getScopeSpansList().stream())
                    .flatMap(scope -> scope.getSpansList().stream())
                    .map(Span::of)
                    .forEach(spans::add);
            responses.onNext(ExportTraceServiceResponse.getDefaultInstance());
            responses.onCompleted();
        }
    }
}
