// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A collector of traces. Receives spans from OTLP exporters over gRPC, and keeps their ids, names and attributes. */
public final class OtlpReceiver implements AutoCloseable {

    // Field numbers of opentelemetry/proto/collector/trace/v1 and opentelemetry/proto/trace/v1.
    private static final int RESOURCE_SPANS = 1;
    private static final int SCOPE_SPANS = 2;
    private static final int SPANS = 2;
    private static final int TRACE_ID = 1;
    private static final int SPAN_ID = 2;
    private static final int PARENT_SPAN_ID = 4;
    private static final int NAME = 5;
    private static final int ATTRIBUTES = 9;
    // Field numbers of opentelemetry/proto/common/v1: KeyValue, AnyValue.
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int STRING_VALUE = 1;
    private static final int BOOL_VALUE = 2;
    private static final int INT_VALUE = 3;

    /**
     * A span; its ids are in hexadecimal digits.
     *
     * @param parentId id of the parent span; empty for the first span of a trace
     * @param attributes values as text; values that are neither string, Boolean nor integer are empty
     */
    public record Span(String traceId, String spanId, String parentId, String name, Map<String, String> attributes) {}

    private final List<Span> spans = new CopyOnWriteArrayList<>();
    private final Server server;

    public OtlpReceiver() {
        MethodDescriptor<byte[], byte[]> export = MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("opentelemetry.proto.collector.trace.v1.TraceService/Export")
                .setRequestMarshaller(new Octets())
                .setResponseMarshaller(new Octets())
                .build();
        ServerServiceDefinition service = ServerServiceDefinition.builder(
                        "opentelemetry.proto.collector.trace.v1.TraceService")
                .addMethod(export, ServerCalls.asyncUnaryCall((request, responses) -> {
                    eachField(request, RESOURCE_SPANS, this::takeResourceSpans);
                    responses.onNext(new byte[0]);
                    responses.onCompleted();
                }))
                .build();
        try {
            server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addService(service)
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

    private void takeResourceSpans(byte[] resourceSpans) {
        eachField(resourceSpans, SCOPE_SPANS, scope -> eachField(scope, SPANS, this::takeSpan));
    }

    private void takeSpan(byte[] span) {
        spans.add(new Span(
                hex(firstField(span, TRACE_ID)),
                hex(firstField(span, SPAN_ID)),
                hex(firstField(span, PARENT_SPAN_ID)),
                text(firstField(span, NAME)),
                attributes(span)));
    }

    private static Map<String, String> attributes(byte[] span) {
        Map<String, String> attributes = new TreeMap<>();
        eachField(
                span,
                ATTRIBUTES,
                attribute -> attributes.put(text(firstField(attribute, KEY)), value(firstField(attribute, VALUE))));
        return Map.copyOf(attributes);
    }

    /** Returns a string, Boolean or integer as text, and an empty text for other values. */
    private static String value(byte[] any) {
        CodedInputStream in = CodedInputStream.newInstance(any);
        try {
            int tag = in.readTag();
            return switch (WireFormat.getTagFieldNumber(tag)) {
                case STRING_VALUE -> in.readString();
                case BOOL_VALUE -> Boolean.toString(in.readBool());
                case INT_VALUE -> Long.toString(in.readInt64());
                default -> "";
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(byte[] octets) {
        return ByteString.copyFrom(octets).toStringUtf8();
    }

    private static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }

    private static byte[] firstField(byte[] message, int number) {
        byte[][] found = {new byte[0]};
        eachField(message, number, value -> found[0] = value);
        return found[0];
    }

    /** Passes each value of a field of type message, string or bytes to a consumer. */
    private static void eachField(byte[] message, int number, Consumer<byte[]> consumer) {
        CodedInputStream in = CodedInputStream.newInstance(message);
        try {
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (WireFormat.getTagFieldNumber(tag) == number
                        && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                    consumer.accept(in.readByteArray());
                } else {
                    in.skipField(tag);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private static final class Octets implements MethodDescriptor.Marshaller<byte[]> {

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
