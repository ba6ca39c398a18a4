// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.Optional;

/**
 * Passes the caller's trace context to the sidecar (W3C traceparent). OpenTelemetry's API is optional: without it on
 * the class path, nothing is passed. The propagator is used directly. Reading the global propagator too early would
 * prevent the application from setting its own.
 */
final class TraceContext {

    private static final boolean AVAILABLE = isAvailable();

    private TraceContext() {}

    static Optional<ClientInterceptor> interceptor() {
        return AVAILABLE ? Optional.of(new Interceptor()) : Optional.empty();
    }

    private static boolean isAvailable() {
        try {
            Class.forName("io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static final class Interceptor implements ClientInterceptor {

        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            Context context = Context.current();
            if (context.equals(Context.root())) {
                return next.newCall(method, options);
            }
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                @Override
                public void start(Listener<R> listener, Metadata headers) {
                    W3CTraceContextPropagator.getInstance().inject(context, headers, Interceptor::put);
                    super.start(listener, headers);
                }
            };
        }

        private static void put(Metadata headers, String name, String value) {
            headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        }
    }
}
