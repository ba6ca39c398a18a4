// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.sidewarp.service.error.ApiError;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records one span for each call, and the duration of unary calls. The span continues the caller's trace (metadata
 * {@code traceparent}). Single messages of streams cost nothing.
 */
public final class CallInterceptor implements ServerInterceptor {

    /** Context of the call's span, for work that the call causes. */
    public static final Context.Key<io.opentelemetry.context.Context> TRACE =
            Context.keyWithDefault("sidewarp-trace", io.opentelemetry.context.Context.root());

    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("rpc.system");
    private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("rpc.service");
    private static final AttributeKey<String> METHOD = AttributeKey.stringKey("rpc.method");
    private static final AttributeKey<Long> STATUS = AttributeKey.longKey("rpc.grpc.status_code");
    private static final double NANOS = 1e9;
    private static final List<Double> BUCKETS = List.of(
            50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.2, 0.5, 1.0, 5.0, 10.0);

    private final Telemetry telemetry;
    private final DoubleHistogram durations;

    public CallInterceptor(Telemetry telemetry) {
        this.telemetry = telemetry;
        this.durations = telemetry
                .meter()
                .histogramBuilder("rpc.server.call.duration")
                .setDescription("Duration of unary API calls")
                .setUnit("s")
                .setExplicitBucketBoundariesAdvice(BUCKETS)
                .build();
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        MethodDescriptor<Q, R> method = call.getMethodDescriptor();
        String service = method.getServiceName();
        // Health checks and reflection would only be noise.
        if (service == null || service.startsWith("grpc.")) {
            return next.startCall(call, headers);
        }
        Span span = telemetry.isTracing() ? startSpan(method, headers) : Span.getInvalid();
        long begin = System.nanoTime();
        ServerCall<Q, R> observed = new ForwardingServerCall.SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
                end(span, method, begin, status);
                if (!status.isOk()) {
                    record(method, status, trailers);
                }
                super.close(status, trailers);
            }
        };
        Context context = span.getSpanContext().isValid()
                ? Context.current()
                        .withValue(
                                TRACE, io.opentelemetry.context.Context.root().with(span))
                : Context.current();
        return new CancelListener<>(Contexts.interceptCall(context, observed, headers, next), span);
    }

    /** Keeps a failure for the status page. A cancellation comes from the caller, or from the end of its session. */
    private void record(MethodDescriptor<?, ?> method, Status status, Metadata trailers) {
        if (status.getCode() != Status.Code.CANCELLED) {
            telemetry
                    .errors()
                    .add(
                            "call " + method.getBareMethodName(),
                            "",
                            status.getCode(),
                            String.valueOf(status.getDescription()),
                            ApiError.retry(status.asRuntimeException(trailers)));
        }
    }

    private Span startSpan(MethodDescriptor<?, ?> method, Metadata headers) {
        return telemetry
                .tracer()
                .spanBuilder(method.getFullMethodName())
                .setParent(W3CTraceContextPropagator.getInstance()
                        .extract(io.opentelemetry.context.Context.root(), headers, MetadataGetter.INSTANCE))
                .setSpanKind(SpanKind.SERVER)
                .setAttribute(SYSTEM, "grpc")
                .setAttribute(SERVICE, String.valueOf(method.getServiceName()))
                .setAttribute(METHOD, String.valueOf(method.getBareMethodName()))
                .startSpan();
    }

    private void end(Span span, MethodDescriptor<?, ?> method, long begin, Status status) {
        long code = status.getCode().value();
        if (method.getType() == MethodDescriptor.MethodType.UNARY) {
            durations.record(
                    (System.nanoTime() - begin) / NANOS,
                    Attributes.of(
                            SERVICE,
                            String.valueOf(method.getServiceName()),
                            METHOD,
                            String.valueOf(method.getBareMethodName()),
                            STATUS,
                            code));
        }
        span.setAttribute(STATUS, code);
        if (!status.isOk()) {
            span.setStatus(StatusCode.ERROR, status.getDescription() == null ? "" : status.getDescription());
        }
        span.end();
    }

    /** Ends the span of a call that the client cancelled. Most sessions end like this. */
    private static final class CancelListener<Q>
            extends io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener<Q> {

        private final Span span;

        CancelListener(ServerCall.Listener<Q> delegate, Span span) {
            super(delegate);
            this.span = span;
        }

        @Override
        public void onCancel() {
            span.setAttribute(STATUS, (long) Status.Code.CANCELLED.value());
            span.end();
            super.onCancel();
        }
    }

    private enum MetadataGetter implements TextMapGetter<Metadata> {
        INSTANCE;

        @Override
        public Iterable<String> keys(Metadata carrier) {
            return carrier.keys();
        }

        @Override
        public @Nullable String get(@Nullable Metadata carrier, String key) {
            return carrier == null ? null : carrier.get(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER));
        }
    }
}
