// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.grpc;

import com.google.protobuf.BytesValue;
import com.google.protobuf.Int64Value;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Serves {@link Methods}. */
public final class GrpcPassiveEnd implements PassiveEnd {

    private final InetAddress address;
    private @Nullable Server server;

    /** @param address where it listens */
    public GrpcPassiveEnd(InetAddress address) {
        this.address = address;
    }

    @Override
    public int listen(TransferPlan plan) throws IOException {
        ServerServiceDefinition service = ServerServiceDefinition.builder(Methods.SERVICE)
                .addMethod(Methods.TAKE, ServerCalls.asyncClientStreamingCall(GrpcPassiveEnd::take))
                .addMethod(Methods.ECHO, ServerCalls.asyncBidiStreamingCall(GrpcPassiveEnd::echo))
                .build();
        Server started = NettyServerBuilder.forAddress(new InetSocketAddress(address, 0))
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .addService(service)
                .build()
                .start();
        server = started;
        return started.getPort();
    }

    private static StreamObserver<BytesValue> take(StreamObserver<Int64Value> reply) {
        return new StreamObserver<>() {

            private long octets;

            @Override
            public void onNext(BytesValue message) {
                octets += message.getValue().size();
            }

            @Override
            public void onError(Throwable failure) {
                // The active end reports it.
            }

            @Override
            public void onCompleted() {
                reply.onNext(Int64Value.of(octets));
                reply.onCompleted();
            }
        };
    }

    private static StreamObserver<BytesValue> echo(StreamObserver<BytesValue> reply) {
        return new StreamObserver<>() {

            @Override
            public void onNext(BytesValue message) {
                reply.onNext(message);
            }

            @Override
            public void onError(Throwable failure) {
                // The active end reports it.
            }

            @Override
            public void onCompleted() {
                reply.onCompleted();
            }
        };
    }

    @Override
    public void close() throws InterruptedException {
        if (server != null) {
            server.shutdownNow().awaitTermination();
            server = null;
        }
    }
}
