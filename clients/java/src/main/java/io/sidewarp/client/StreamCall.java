// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A call with one request and a stream of responses, which are taken as they arrive. */
final class StreamCall {

    private final ClientCall<?, ?> call;

    private StreamCall(ClientCall<?, ?> call) {
        this.call = call;
    }

    /**
     * Starts the call. Both callbacks run on the event loop.
     *
     * @param end called once, last, with the failure, or with null if the server ended the call in order
     */
    static <Q, R> StreamCall start(
            Transport transport,
            String target,
            MethodDescriptor<Q, R> method,
            Q request,
            Consumer<R> responses,
            Consumer<@Nullable SidewarpException> end) {
        ClientCall<Q, R> call = transport.channel().newCall(method, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(R message) {
                        responses.accept(message);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end.accept(status.isOk() ? null : Errors.of(status, trailers, target));
                    }
                },
                new Metadata());
        call.request(Integer.MAX_VALUE);
        call.sendMessage(request);
        call.halfClose();
        return new StreamCall(call);
    }

    void cancel(String why) {
        call.cancel(why, null);
    }
}
