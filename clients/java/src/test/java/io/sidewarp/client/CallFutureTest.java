// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CallFutureTest {

    @Test
    void interruptedThreadGetsWhatCameBeforeItCouldCancel() {
        CompletableFuture<String> crossing = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                complete("there");
                return super.cancel(mayInterruptIfRunning);
            }
        };
        Thread.currentThread().interrupt();

        String came = CallFuture.await(crossing);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(came).isEqualTo("there");
    }

    @Test
    void lateAnswerToACallThatCreatesIsUndone() {
        PlayedChannel channel = new PlayedChannel();
        List<Long> undone = new ArrayList<>();
        CompletableFuture<Long> connecting = CallFuture.start(
                        channel,
                        "test",
                        ConnectionServiceGrpc.getConnectMethod(),
                        ConnectRequest.getDefaultInstance(),
                        CallOptions.DEFAULT)
                .<Long, Long>created(response -> response.getConnection().getId(), undone::add);

        connecting.cancel(true);
        channel.answer(ConnectResponse.newBuilder()
                .setConnection(Connection.newBuilder().setId(7))
                .build());

        assertThat(connecting).isCancelled();
        assertThat(undone).containsExactly(7L);
        assertThat(channel.cancelled).isFalse();
    }

    /** A channel whose only call ends when the test says so. */
    private static final class PlayedChannel extends Channel {

        private ClientCall.@Nullable Listener<?> listener;
        private boolean cancelled;

        @SuppressWarnings("unchecked") // There is one call.
        <R> void answer(R response) {
            ClientCall.Listener<R> caller = (ClientCall.Listener<R>) Objects.requireNonNull(listener);
            caller.onMessage(response);
            caller.onClose(Status.OK, new Metadata());
        }

        @Override
        public String authority() {
            return "test";
        }

        @Override
        public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
            return new ClientCall<>() {
                @Override
                public void start(Listener<R> caller, Metadata headers) {
                    listener = caller;
                }

                @Override
                public void request(int messages) {}

                @Override
                public void cancel(@Nullable String message, @Nullable Throwable cause) {
                    cancelled = true;
                }

                @Override
                public void halfClose() {}

                @Override
                public void sendMessage(Q message) {}
            };
        }
    }
}
