// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import com.google.protobuf.BytesValue;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.sidewarp.bench.end.PassiveEnd;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Serves streaming calls of grpc-java over TCP. Transport and flow control have their defaults. */
public final class GrpcPassiveEnd implements PassiveEnd {

    private static final String SERVICE = "sidewarp.bench.Bytes";

    /** Takes messages until the caller completes, and completes then. */
    static final MethodDescriptor<BytesValue, BytesValue> TAKE = method("Take");

    /** Sends each message back. */
    static final MethodDescriptor<BytesValue, BytesValue> ECHO = method("Echo");

    private final Server server;

    /** @param address where it listens */
    public GrpcPassiveEnd(InetAddress address) throws IOException {
        ServerServiceDefinition service = ServerServiceDefinition.builder(SERVICE)
                .addMethod(TAKE, ServerCalls.asyncBidiStreamingCall(reply -> new Taker(reply, false)))
                .addMethod(ECHO, ServerCalls.asyncBidiStreamingCall(reply -> new Taker(reply, true)))
                .build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress(address, 0))
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .addService(service)
                .build()
                .start();
    }

    private static MethodDescriptor<BytesValue, BytesValue> method(String name) {
        return MethodDescriptor.<BytesValue, BytesValue>newBuilder()
                .setType(MethodType.BIDI_STREAMING)
                .setFullMethodName(SERVICE + "/" + name)
                .setRequestMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                .setResponseMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                .build();
    }

    private record Taker(StreamObserver<BytesValue> reply, boolean echoes) implements StreamObserver<BytesValue> {

        @Override
        public void onNext(BytesValue message) {
            if (echoes) {
                reply.onNext(message);
            }
        }

        @Override
        public void onError(Throwable failure) {
            // The active end reports it.
        }

        @Override
        public void onCompleted() {
            reply.onCompleted();
        }
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public void close() throws InterruptedException {
        server.shutdownNow().awaitTermination();
    }
}
