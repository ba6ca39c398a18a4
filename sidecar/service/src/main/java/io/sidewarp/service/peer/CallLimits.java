// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;

/**
 * Counts the calls of each connection, and refuses calls above the limit. The limit of HTTP/2 is silent: clients hold
 * back further calls, possibly forever. This interceptor must run before all others.
 */
public final class CallLimits implements ServerInterceptor {

    /** Maximum length in bytes of the authority that a client claims. gRPC keeps the authority for the whole call. */
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
                            ":authority", authority.length() + " bytes", "at most " + MAX_AUTHORITY + " bytes"));
        }
        try {
            connection.beginCall();
        } catch (StatusRuntimeException e) {
            return refuse(call, connection, e);
        }
        // With this threshold, ready means that no message waits for the transport. The sender thereby bounds the
        // amount of waiting data.
        call.setOnReadyThreshold(1);
        try {
            return new Ending<>(next.startCall(call, headers), connection::endCall);
        } catch (RuntimeException | Error e) {
            connection.endCall();
            throw e;
        } finally {
            forget(headers);
        }
    }

    private static <Q> ServerCall.Listener<Q> refuse(
            ServerCall<Q, ?> call, ApiConnection connection, StatusRuntimeException refusal) {
        connection.beginRefusal();
        call.close(refusal.getStatus(), ApiError.trailers(refusal.getStatus()));
        return new Ending<>(new ServerCall.Listener<Q>() {}, connection::endRefusal);
    }

    /** Drops the headers. gRPC would keep them for the whole call, and a client may send 8 KiB per call. */
    private static void forget(Metadata headers) {
        for (String name : headers.keys()) {
            if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                headers.discardAll(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER));
            } else {
                headers.discardAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
            }
        }
    }

    /** Runs an action when a call is over: its client has read everything or has left. */
    private static final class Ending<Q> extends SimpleForwardingServerCallListener<Q> {

        private final Runnable end;

        Ending(ServerCall.Listener<Q> handler, Runnable end) {
            super(handler);
            this.end = end;
        }

        @Override
        public void onComplete() {
            end.run();
            super.onComplete();
        }

        @Override
        public void onCancel() {
            end.run();
            super.onCancel();
        }
    }
}
