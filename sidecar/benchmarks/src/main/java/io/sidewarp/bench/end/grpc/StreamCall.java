// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.grpc;

import com.google.protobuf.BytesValue;
import com.google.protobuf.Int64Value;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.sidewarp.bench.end.DutyOutcome;
import java.util.concurrent.CompletableFuture;

/** Sends one message over and over while the call is ready for more, for a given time. */
final class StreamCall implements ClientResponseObserver<BytesValue, Int64Value> {

    private final CompletableFuture<DutyOutcome> outcome = new CompletableFuture<>();
    private final BytesValue message;
    private final long nanos;
    private final long begin = System.nanoTime();
    private long messages;
    private boolean complete;

    StreamCall(BytesValue message, long nanos) {
        this.message = message;
        this.nanos = nanos;
    }

    CompletableFuture<DutyOutcome> outcome() {
        return outcome;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<BytesValue> requests) {
        requests.setOnReadyHandler(() -> send(requests));
    }

    private void send(ClientCallStreamObserver<BytesValue> requests) {
        while (!complete && requests.isReady()) {
            requests.onNext(message);
            messages++;
            if (System.nanoTime() - begin >= nanos) {
                complete = true;
                requests.onCompleted();
            }
        }
    }

    @Override
    public void onNext(Int64Value octets) {
        long expected = messages * message.getValue().size();
        if (octets.getValue() == expected) {
            outcome.complete(DutyOutcome.stream(System.nanoTime() - begin, messages));
        } else {
            outcome.completeExceptionally(
                    new IllegalStateException(octets.getValue() + " of " + expected + " bytes arrived"));
        }
    }

    @Override
    public void onError(Throwable failure) {
        outcome.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {}
}
