// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The Queue call of one work queue. The call begins once, is half-closed once, and is not used after its end. Used on
 * the event loop only.
 */
final class QueueCall implements ClientResponseObserver<QueueRequest, QueueResponse> {

    private final Runnable ready;
    private final Consumer<QueueResponse> responses;
    private final Consumer<@Nullable Throwable> ended;
    private @Nullable ClientCallStreamObserver<QueueRequest> requests;
    private boolean halfClosed;
    private boolean closed;

    /**
     * Makes a call that has not begun.
     *
     * @param ready runs when the call takes more requests
     * @param responses takes the sidecar's responses
     * @param ended takes the reason for the end of the call; null if the sidecar ended the call in order
     */
    QueueCall(Runnable ready, Consumer<QueueResponse> responses, Consumer<@Nullable Throwable> ended) {
        this.ready = ready;
        this.responses = responses;
        this.ended = ended;
    }

    void start(Transport transport, QueueOpen open) {
        TransferServiceGrpc.newStub(transport.channel()).queue(this);
        send(QueueRequest.newBuilder().setOpen(open).build());
    }

    /** Returns false while sent requests wait for the sidecar. */
    boolean isReady() {
        return requests != null && requests.isReady();
    }

    void send(QueueRequest request) {
        if (requests != null && !closed) {
            requests.onNext(request);
        }
    }

    /** Tells the sidecar that no more work will be posted. */
    void halfClose() {
        if (requests != null && !closed && !halfClosed) {
            halfClosed = true;
            requests.onCompleted();
        }
    }

    boolean isHalfClosed() {
        return halfClosed;
    }

    /** Cancels the call and everything outstanding on it. */
    void cancel(SidewarpException cause) {
        if (requests != null && !closed) {
            requests.cancel(cause.getMessage(), cause);
        }
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<QueueRequest> call) {
        requests = call;
        call.setOnReadyHandler(ready);
    }

    @Override
    public void onNext(QueueResponse response) {
        responses.accept(response);
    }

    @Override
    public void onError(Throwable failure) {
        closed = true;
        ended.accept(failure);
    }

    @Override
    public void onCompleted() {
        closed = true;
        ended.accept(null);
    }
}
