// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.HandlerRegistry;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.sidewarp.service.testing.Octets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An OTLP collector that keeps spans and the names of metrics. */
final class Collector implements AutoCloseable {

    private final Server server;
    private final List<CollectedSpan> spans = new CopyOnWriteArrayList<>();
    private final List<String> metrics = new CopyOnWriteArrayList<>();

    Collector() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .fallbackHandlerRegistry(new Everything())
                .build()
                .start();
    }

    String endpoint() {
        return "http://127.0.0.1:" + server.getPort();
    }

    List<CollectedSpan> spans() {
        return spans;
    }

    List<String> metrics() {
        return metrics;
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    /** A span with the terms of OTLP. */
    record CollectedSpan(
            String trace, String id, String parent, String name, List<String> attributes, List<String> events) {}

    private byte[] collect(String method, byte[] request) {
        try {
            // Resource 1, its scopes 2, their items 2, in traces and in metrics.
            for (UnknownFieldSet resource : children(UnknownFieldSet.parseFrom(request), 1)) {
                for (UnknownFieldSet scope : children(resource, 2)) {
                    for (UnknownFieldSet item : children(scope, 2)) {
                        if (method.contains("trace")) {
                            spans.add(span(item));
                        } else {
                            metrics.add(text(item, 1));
                        }
                    }
                }
            }
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        }
        return new byte[0];
    }

    private static CollectedSpan span(UnknownFieldSet span) throws InvalidProtocolBufferException {
        List<String> events = new ArrayList<>();
        for (UnknownFieldSet event : children(span, 11)) {
            events.add(text(event, 2));
        }
        List<String> attributes = new ArrayList<>();
        for (UnknownFieldSet attribute : children(span, 9)) {
            attributes.add(text(attribute, 1));
        }
        return new CollectedSpan(hex(span, 1), hex(span, 2), hex(span, 4), text(span, 5), attributes, events);
    }

    private static List<UnknownFieldSet> children(UnknownFieldSet parent, int field)
            throws InvalidProtocolBufferException {
        List<UnknownFieldSet> children = new ArrayList<>();
        for (ByteString child : parent.getField(field).getLengthDelimitedList()) {
            children.add(UnknownFieldSet.parseFrom(child));
        }
        return children;
    }

    private static String text(UnknownFieldSet message, int field) {
        List<ByteString> values = message.getField(field).getLengthDelimitedList();
        return values.isEmpty() ? "" : values.get(0).toStringUtf8();
    }

    private static String hex(UnknownFieldSet message, int field) {
        List<ByteString> values = message.getField(field).getLengthDelimitedList();
        return values.isEmpty() ? "" : HexFormat.of().formatHex(values.get(0).toByteArray());
    }

    private final class Everything extends HandlerRegistry {

        @Override
        public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
            return ServerMethodDefinition.create(Octets.unary(name), ServerCalls.asyncUnaryCall((request, observer) -> {
                observer.onNext(collect(name, request));
                observer.onCompleted();
            }));
        }
    }
}
