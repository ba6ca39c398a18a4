// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.webhook.NamespaceFacts;
import io.sidewarp.operator.controller.webhook.WebhookServer;
import io.smallrye.health.api.Wellness;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.List;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Provides what the controller reports by: health, events, metrics and traces. */
@Dependent
final class Reporting {

    /** Readiness: this replica can answer admission calls, whether or not it is the leader. */
    @Produces
    @Readiness
    @ApplicationScoped
    HealthCheck readiness(WebhookServer webhook) {
        return () ->
                HealthCheckResponse.named("webhook").status(webhook.isReady()).build();
    }

    /**
     * Wellness: the caches of the webhook follow the API server. No probe asks for it, since the webhook answers from
     * its caches while the API server is away. The readiness check of the Java Operator SDK covers the reconcilers.
     */
    @Produces
    @Wellness
    @ApplicationScoped
    HealthCheck wellness(NamespaceFacts facts) {
        return () -> HealthCheckResponse.named("api-server-watch")
                .status(facts.isWatching())
                .build();
    }

    /** Provides the recorder by which reconcilers report transitions. */
    @Produces
    @Singleton
    EventRecorder events(KubernetesClient client) {
        return new EventRecorder(client, OperatorConfig.MANAGER);
    }

    /**
     * Provides metrics per controller, and a trace of each reconciliation. Metrics per resource would create histograms
     * for each of a thousand nodes.
     */
    @Produces
    @Singleton
    Metrics metrics(MeterRegistry registry, OpenTelemetry telemetry) {
        Metrics micrometer = MicrometerMetricsV2.newBuilder(registry).build();
        Metrics traced = new TracedMetrics(micrometer, telemetry.getTracer(OperatorConfig.MANAGER));
        // The first one times the executions.
        return new AggregatedMetrics(List.of(traced, micrometer));
    }
}
