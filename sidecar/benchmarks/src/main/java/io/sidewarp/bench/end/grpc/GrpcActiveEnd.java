// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.TransferPlan;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Streams messages as fast as flow control permits, or sends one at a time. */
public final class GrpcActiveEnd implements ActiveEnd {

    private static final long PATIENCE_SECONDS = 60;

    private final InetAddress peer;
    private @Nullable ManagedChannel channel;
    private @Nullable TransferPlan plan;
    private BytesValue message = BytesValue.getDefaultInstance();

    /** @param peer address of the passive end */
    public GrpcActiveEnd(InetAddress peer) {
        this.peer = peer;
    }

    @Override
    public void connect(TransferPlan newPlan, int port) {
        plan = newPlan;
        // Wraps the array without a copy, like an application whose payload is in an array already.
        ByteString payload = UnsafeByteOperations.unsafeWrap(new byte[newPlan.size()]);
        message = BytesValue.of(payload);
        channel = NettyChannelBuilder.forAddress(new InetSocketAddress(peer, port))
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
    }

    @Override
    public DutyOutcome run(long nanos) throws Exception {
        if (channel == null || plan == null) {
            throw new IllegalStateException("not connected");
        }
        if (plan.mode() == Mode.STREAM) {
            StreamCall call = new StreamCall(message, nanos);
            ClientCalls.asyncClientStreamingCall(channel.newCall(Methods.TAKE, CallOptions.DEFAULT), call);
            return call.outcome().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        EchoCall call = new EchoCall(message, nanos);
        ClientCalls.asyncBidiStreamingCall(channel.newCall(Methods.ECHO, CallOptions.DEFAULT), call);
        call.start();
        return call.outcome().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        if (channel != null) {
            channel.shutdownNow().awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
            channel = null;
        }
    }
}
