// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * Configures the Java Operator SDK to count per controller, and to trace each reconciliation. Metrics per resource
 * would create histograms for each of a thousand nodes.
 */
@Dependent
final class OperatorMetrics {
    @Produces
    @Singleton
    Metrics metrics(MeterRegistry registry, OpenTelemetry telemetry) {
        return new TracedMetrics(
                MicrometerMetricsV2.newBuilder(registry).build(), telemetry.getTracer("sidewarp-controller"));
    }
}
