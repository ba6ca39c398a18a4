// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.grpc;

import com.google.protobuf.BytesValue;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.cli.perf.Histogram;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends a message, and the next one after the first has come back. The latency is half of the round trip. */
final class EchoCall implements ClientResponseObserver<BytesValue, BytesValue> {

    private final CompletableFuture<DutyOutcome> outcome = new CompletableFuture<>();
    private final Histogram histogram = new Histogram();
    private final BytesValue message;
    private final long nanos;
    private @Nullable ClientCallStreamObserver<BytesValue> call;
    private long begin;
    private long sent;

    EchoCall(BytesValue message, long nanos) {
        this.message = message;
        this.nanos = nanos;
    }

    CompletableFuture<DutyOutcome> outcome() {
        return outcome;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<BytesValue> requests) {
        call = requests;
    }

    /** Sends the first message; the call has to be started. */
    void start() {
        begin = System.nanoTime();
        sent = begin;
        call().onNext(message);
    }

    @Override
    public void onNext(BytesValue reply) {
        long now = System.nanoTime();
        histogram.record((now - sent) / 2);
        sent = now;
        if (now - begin < nanos) {
            call().onNext(message);
        } else {
            call().onCompleted();
        }
    }

    @Override
    public void onError(Throwable failure) {
        outcome.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
        outcome.complete(DutyOutcome.pingPong(sent - begin, histogram));
    }

    private ClientCallStreamObserver<BytesValue> call() {
        return Objects.requireNonNull(call, "the call has not started");
    }
}
