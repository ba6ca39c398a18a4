// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes a span for each reconciliation. The span {@code reconcile policy} lasts from the start of
 * the reconciliation in its thread until the status is written. It contains the resource, its generation and the
 * outcome. A reconciliation runs in one thread.
 */
final class TracedMetrics implements Metrics {
    /**
     * Outcome as the Java Operator SDK names it. {@code resource}, {@code status} or {@code both}: the parts that the
     * SDK updates, whether or not they differ. {@code delete} or {@code finalizernotremoved}: the result for a deleted
     * resource. {@code failed}: the reconciliation failed.
     */
    static final String OUTCOME = "sidewarp.outcome";

    static final String KIND = "k8s.resource.kind";
    static final String NAME = "k8s.resource.name";
    static final String NAMESPACE = "k8s.namespace.name";
    static final String GENERATION = "k8s.resource.generation";

    private static final ThreadLocal<@Nullable Span> RUNNING = new ThreadLocal<>();

    private final Metrics timer;
    private final Tracer tracer;

    /** @param timer measures the time of each execution */
    TracedMetrics(Metrics timer, Tracer tracer) {
        this.timer = timer;
        this.tracer = tracer;
    }

    @Override
    public void reconciliationStarted(HasMetadata resource, Map<String, Object> metadata) {
        Span span = tracer.spanBuilder("reconcile " + metadata.getOrDefault(Constants.CONTROLLER_NAME, ""))
                .setNoParent()
                .startSpan();
        span.setAttribute(KIND, resource.getKind());
        span.setAttribute(NAME, resource.getMetadata().getName());
        if (resource.getMetadata().getNamespace() != null) {
            span.setAttribute(NAMESPACE, resource.getMetadata().getNamespace());
        }
        if (resource.getMetadata().getGeneration() != null) {
            span.setAttribute(GENERATION, resource.getMetadata().getGeneration());
        }
        RUNNING.set(span);
    }

    @Override
    public <T> T timeControllerExecution(ControllerExecution<T> execution) throws Exception {
        Span span = RUNNING.get();
        if (span == null) {
            return timer.timeControllerExecution(execution);
        }
        span.updateName(execution.name() + " " + execution.controllerName());
        try (Scope scope = span.makeCurrent()) {
            T result = timer.timeControllerExecution(execution);
            span.setAttribute(OUTCOME, execution.successTypeName(result).toLowerCase(Locale.ROOT));
            return result;
        }
    }

    @Override
    public void reconciliationFailed(
            HasMetadata resource, @Nullable RetryInfo retry, Exception failure, Map<String, Object> metadata) {
        Span span = RUNNING.get();
        if (span != null) {
            span.setAttribute(OUTCOME, "failed");
            span.recordException(failure);
            span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
        }
    }

    @Override
    public void reconciliationFinished(HasMetadata resource, @Nullable RetryInfo retry, Map<String, Object> metadata) {
        Span span = RUNNING.get();
        if (span != null) {
            RUNNING.remove();
            span.end();
        }
    }
}
