// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import com.google.protobuf.BytesValue;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Streams messages as fast as the flow control of grpc-java permits, or sends one at a time. */
public final class GrpcActiveEnd implements ActiveEnd {

    private static final long PATIENCE_SECONDS = 60;

    private final boolean streaming;
    private final BytesValue message;
    private final ManagedChannel channel;

    public GrpcActiveEnd(TransferPlan plan, InetSocketAddress peer) {
        streaming = plan.mode() == Mode.STREAM;
        // Wraps the array without a copy, like an application whose payload is in an array already.
        message = BytesValue.of(UnsafeByteOperations.unsafeWrap(new byte[plan.size()]));
        channel = NettyChannelBuilder.forAddress(peer)
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
    }

    @Override
    public DutyOutcome run(long nanos) throws Exception {
        Call call = streaming ? new StreamCall(message, nanos) : new EchoCall(message, nanos);
        ClientCalls.asyncBidiStreamingCall(
                channel.newCall(streaming ? GrpcPassiveEnd.TAKE : GrpcPassiveEnd.ECHO, CallOptions.DEFAULT), call);
        call.start();
        return call.outcome.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        channel.shutdownNow().awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** A call with one message that is sent repeatedly for a given time. */
    private abstract static class Call implements ClientResponseObserver<BytesValue, BytesValue> {

        final CompletableFuture<DutyOutcome> outcome = new CompletableFuture<>();
        final BytesValue message;
        final long nanos;
        final long begin = System.nanoTime();
        private @Nullable ClientCallStreamObserver<BytesValue> requests;

        Call(BytesValue message, long nanos) {
            this.message = message;
            this.nanos = nanos;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<BytesValue> stream) {
            requests = stream;
        }

        ClientCallStreamObserver<BytesValue> requests() {
            return Objects.requireNonNull(requests, "the call has not started");
        }

        /** Begins to send, unless the transport says when. */
        void start() {}

        @Override
        public void onError(Throwable failure) {
            outcome.completeExceptionally(failure);
        }
    }

    /** Sends the message over and over while the call is ready for more. */
    private static final class StreamCall extends Call {

        private long messages;
        private boolean complete;

        StreamCall(BytesValue message, long nanos) {
            super(message, nanos);
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<BytesValue> stream) {
            super.beforeStart(stream);
            stream.setOnReadyHandler(this::send);
        }

        private void send() {
            while (!complete && requests().isReady()) {
                requests().onNext(message);
                messages++;
                if (System.nanoTime() - begin >= nanos) {
                    complete = true;
                    requests().onCompleted();
                }
            }
        }

        @Override
        public void onNext(BytesValue reply) {}

        @Override
        public void onCompleted() {
            outcome.complete(DutyOutcome.stream(System.nanoTime() - begin, messages));
        }
    }

    /** Sends the message again when it has come back. The latency is half of the round trip. */
    private static final class EchoCall extends Call {

        private final Histogram histogram = DutyOutcome.newHistogram();
        private long sent;

        EchoCall(BytesValue message, long nanos) {
            super(message, nanos);
        }

        @Override
        void start() {
            sent = System.nanoTime();
            requests().onNext(message);
        }

        @Override
        public void onNext(BytesValue reply) {
            long now = System.nanoTime();
            histogram.recordValue((now - sent) / 2);
            sent = now;
            if (now - begin < nanos) {
                requests().onNext(message);
            } else {
                requests().onCompleted();
            }
        }

        @Override
        public void onCompleted() {
            outcome.complete(DutyOutcome.pingPong(sent - begin, histogram));
        }
    }
}
