// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;

/**
 * Counts the calls of each connection, and refuses further ones. HTTP/2 has a limit too, but it is a silent one: clients
 * hold back calls beyond it, for ever if the others do not end. To be called before all other interceptors.
 */
public final class CallLimits implements ServerInterceptor {

    /** Octets of the authority that a client claims, which gRPC keeps for as long as the call. */
    private static final int MAX_AUTHORITY = 255;

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        ApiConnection connection = call.getAttributes().get(ApiConnection.ATTRIBUTE);
        if (connection == null) {
            throw new IllegalStateException("the transport has no connection");
        }
        String authority = call.getAuthority();
        if (authority != null && authority.length() > MAX_AUTHORITY) {
            return refuse(
                    call,
                    connection,
                    ApiError.invalid(
                            ":authority", authority.length() + " octets", "at most " + MAX_AUTHORITY + " octets"));
        }
        try {
            connection.beginCall();
        } catch (StatusRuntimeException e) {
            return refuse(call, connection, e);
        }
        AnswerOctets answers = new AnswerOctets(connection);
        try {
            return begin(call, connection, answers, headers, next);
        } catch (RuntimeException | Error e) {
            answers.end();
            connection.endCall();
            throw e;
        } finally {
            forget(headers);
        }
    }

    private static <Q, R> ServerCall.Listener<Q> begin(
            ServerCall<Q, R> call,
            ApiConnection connection,
            AnswerOctets answers,
            Metadata headers,
            ServerCallHandler<Q, R> next) {
        RequestOctets octets = RequestOctets.CONTEXT.get();
        if (octets == null) {
            throw new IllegalStateException("the server does not count octets of requests");
        }
        // Ready means that nothing waits for the transport: nobody sees how much that is, above all of small messages.
        call.setOnReadyThreshold(1);
        EndableCall<Q, R> endable = new EndableCall<>(call, octets);
        Context context = Context.current().withValues(ApiConnection.CONTEXT, connection, AnswerQuota.CONTEXT, answers);
        ServerCall.Listener<Q> handler = Contexts.interceptCall(context, endable, headers, next);
        Ending<Q> listener = new Ending<>(handler, () -> {
            answers.end();
            connection.endCall();
        });
        octets.begin(connection, refusal -> {
            endable.end(refusal.getStatus());
            ServerCall.Listener<? super Q> left = listener.leaveHandler();
            // Not from within what the transport does for the call just now.
            connection.execute(left::onCancel);
        });
        return listener;
    }

    private static <Q> ServerCall.Listener<Q> refuse(
            ServerCall<Q, ?> call, ApiConnection connection, StatusRuntimeException refusal) {
        connection.beginRefusal();
        call.close(refusal.getStatus(), ApiError.trailers(refusal.getStatus()));
        return new Ending<>(new ServerCall.Listener<Q>() {}, connection::endRefusal);
    }

    /** gRPC keeps them for as long as the call, and a client may send 8 KiB of them with each. */
    private static void forget(Metadata headers) {
        for (String name : headers.keys()) {
            if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                headers.discardAll(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER));
            } else {
                headers.discardAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
            }
        }
    }

    /**
     * Tells when nothing of a call is left: its client has taken all that it was sent, or has gone. A handler may learn before
     * that the call is cancelled, and then of nothing else.
     */
    private static final class Ending<Q> extends ServerCall.Listener<Q> {

        private static final ServerCall.Listener<Object> NOBODY = new ServerCall.Listener<>() {};

        private ServerCall.Listener<? super Q> handler;
        private final Runnable end;

        Ending(ServerCall.Listener<Q> handler, Runnable end) {
            this.handler = handler;
            this.end = end;
        }

        /** The handler hears of one thing more, if it has not heard of the end. On the transport's thread. */
        ServerCall.Listener<? super Q> leaveHandler() {
            ServerCall.Listener<? super Q> left = handler;
            handler = NOBODY;
            return left;
        }

        @Override
        public void onMessage(Q message) {
            handler.onMessage(message);
        }

        @Override
        public void onHalfClose() {
            handler.onHalfClose();
        }

        @Override
        public void onReady() {
            handler.onReady();
        }

        @Override
        public void onComplete() {
            end.run();
            leaveHandler().onComplete();
        }

        @Override
        public void onCancel() {
            end.run();
            leaveHandler().onCancel();
        }
    }
}
