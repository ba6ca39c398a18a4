// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * Ends a call whose request is too long or malformed, with a status that gives the reason. After the headers were sent,
 * gRPC itself would reset the stream, and the client would not learn the reason. For each malformed request gRPC would
 * also log a stack trace.
 */
public final class RequestGuard implements ServerInterceptor {

    /** Maximum length of an API request in bytes. */
    public static final int MAX_REQUEST = 256 << 10;

    private RequestGuard() {}

    /** Returns the same service with guarded requests. */
    public static ServerServiceDefinition in(ServerServiceDefinition service) {
        return ServerInterceptors.intercept(ServerInterceptors.useInputStreamMessages(service), new RequestGuard());
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        GuardedCall<Q, R> guarded = new GuardedCall<>(call);
        return new GuardedListener<>(next.startCall(guarded, headers), guarded);
    }

    private static void checkLength(Object request) {
        try {
            if (request instanceof KnownLength
                    && request instanceof InputStream octets
                    && octets.available() > MAX_REQUEST) {
                throw ApiError.beyondLimit("the request has " + octets.available() + " bytes; at most " + MAX_REQUEST
                        + " are possible, split it");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Status refusal(StatusRuntimeException failure) {
        return failure.getCause() instanceof InvalidProtocolBufferException malformed
                ? Status.INVALID_ARGUMENT.withDescription("malformed request: " + malformed.getMessage())
                : failure.getStatus();
    }

    /** Reads requests. A handler whose call was ended here receives a cancellation and no other event. */
    private static final class GuardedListener<Q> extends SimpleForwardingServerCallListener<Q> {

        private final GuardedCall<Q, ?> call;

        GuardedListener(ServerCall.Listener<Q> handler, GuardedCall<Q, ?> call) {
            super(handler);
            this.call = call;
        }

        @Override
        public void onMessage(Q request) {
            if (call.isEnded()) {
                return;
            }
            try {
                checkLength(request);
                super.onMessage(request);
            } catch (StatusRuntimeException e) {
                call.end(refusal(e));
                super.onCancel();
            }
        }

        @Override
        public void onHalfClose() {
            if (!call.isEnded()) {
                super.onHalfClose();
            }
        }

        @Override
        public void onReady() {
            if (!call.isEnded()) {
                super.onReady();
            }
        }

        @Override
        public void onCancel() {
            if (!call.isEnded()) {
                super.onCancel();
            }
        }

        @Override
        public void onComplete() {
            if (!call.isEnded()) {
                super.onComplete();
            }
        }
    }

    /** Call that the guard can end without its handler, which sees a cancelled call. Thread-safe. */
    private static final class GuardedCall<Q, R> extends SimpleForwardingServerCall<Q, R> {

        private boolean closed;
        private boolean ended;

        GuardedCall(ServerCall<Q, R> call) {
            super(call);
        }

        synchronized void end(Status status) {
            ended = true;
            if (!closed) {
                closed = true;
                super.close(status, ApiError.trailers(status));
            }
        }

        synchronized boolean isEnded() {
            return ended;
        }

        @Override
        public synchronized void sendHeaders(Metadata headers) {
            if (!ended) {
                super.sendHeaders(headers);
            }
        }

        @Override
        public synchronized void sendMessage(R message) {
            if (!ended) {
                super.sendMessage(message);
            }
        }

        @Override
        public synchronized void close(Status status, Metadata trailers) {
            if (!ended) {
                closed = true;
                super.close(status, trailers);
            }
        }

        @Override
        public boolean isReady() {
            return !isEnded() && super.isReady();
        }

        @Override
        public boolean isCancelled() {
            return isEnded() || super.isCancelled();
        }
    }
}
