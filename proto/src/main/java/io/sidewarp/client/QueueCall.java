// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.v1.QueueOpen;

/**
 * The Queue call of one work queue: begins once, is half-closed once, and is left alone after its end. Used on the event
 * loop only.
 */
final class QueueCall {

    private final ClientCall<PostFrame, QueueCodec> call;
    private boolean started;
    private boolean halfClosed;
    private boolean closed;

    QueueCall(Transport transport) {
        call = transport.channel().newCall(new QueueCodec().method(), CallOptions.DEFAULT);
    }

    /** Begins. Responses come as fast as the sidecar sends them: credits bound how many there can be. */
    void start(QueueOpen open, ClientCall.Listener<QueueCodec> listener) {
        started = true;
        call.start(new EndWatcher(listener), new Metadata());
        call.request(Integer.MAX_VALUE);
        call.sendMessage(PostFrame.of(open));
    }

    /** False while what was sent waits for the sidecar; the listener is told when that changes. */
    boolean isReady() {
        return call.isReady();
    }

    /** Encodes and sends; the frame is the caller's again afterwards. */
    void send(PostFrame frame) {
        call.sendMessage(frame);
    }

    /** Tells the sidecar that nothing else will be posted. */
    void halfClose() {
        if (started && !closed && !halfClosed) {
            halfClosed = true;
            call.halfClose();
        }
    }

    boolean isHalfClosed() {
        return halfClosed;
    }

    /** Breaks it off, and with it what is outstanding. */
    void cancel(SidewarpException cause) {
        if (started && !closed) {
            call.cancel(cause.getMessage(), cause);
        }
    }

    /** Hands everything on, and knows from then on that the call has ended. */
    private final class EndWatcher extends ClientCall.Listener<QueueCodec> {

        private final ClientCall.Listener<QueueCodec> listener;

        EndWatcher(ClientCall.Listener<QueueCodec> listener) {
            this.listener = listener;
        }

        @Override
        public void onReady() {
            listener.onReady();
        }

        @Override
        public void onMessage(QueueCodec response) {
            listener.onMessage(response);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            closed = true;
            listener.onClose(status, trailers);
        }
    }
}
