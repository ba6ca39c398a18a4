// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.exporter.prometheus.PrometheusMetricReader;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.sidewarp.settings.AdvancedConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * OpenTelemetry for the sidecar. This class sets up the SDK instead of the Quarkus extension, because exporters are
 * chosen at run time. Without an OTLP endpoint nothing is exported, and nothing waits for a missing collector. The
 * shutdown time is always bounded.
 */
public final class Telemetry implements AutoCloseable {

    private static final Logger LOG = Logger.getLogger(Telemetry.class);
    private static final String SCOPE = "io.sidewarp";

    private final OpenTelemetrySdk sdk;
    private final PrometheusMetricReader prometheus;
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Duration shutdownTimeout;
    private final boolean tracing;
    private final Set<Runnable> beforeCollection = ConcurrentHashMap.newKeySet();
    private final Tracer tracer;
    private final Meter meter;
    private final WorkTotals work;
    private final ConnectionMetrics connections;
    private final AssociationMetrics associations;
    private final RecentErrors errors = new RecentErrors();

    private Telemetry(
            OpenTelemetrySdk sdk, PrometheusMetricReader prometheus, AdvancedConfig.Telemetry config, boolean tracing) {
        this.sdk = sdk;
        this.prometheus = prometheus;
        this.shutdownTimeout = config.shutdownTimeout();
        this.tracing = tracing;
        // The version is an attribute of the resource. As an attribute of the scope it would be a label of every
        // series.
        this.tracer = sdk.getTracerProvider().get(SCOPE);
        this.meter = sdk.getMeterProvider().get(SCOPE);
        this.work = new WorkTotals(meter, config.latencySampling(), () -> beforeCollection.forEach(Runnable::run));
        this.connections = new ConnectionMetrics(meter);
        this.associations = new AssociationMetrics(meter);
    }

    /** Sets up the SDK from system properties, from environment variables OTEL_..., and from additional properties. */
    public static Telemetry create(AdvancedConfig.Telemetry config, String version, Map<String, String> properties) {
        PrometheusMetricReader prometheus = new PrometheusMetricReader(attribute -> false);
        boolean[] tracing = new boolean[1];
        OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.builder()
                .disableShutdownHook()
                .addPropertiesSupplier(() -> properties)
                .addPropertiesCustomizer(given -> withoutEmpty(given, properties.keySet()))
                .addPropertiesCustomizer(given -> {
                    Map<String, String> chosen = exporters(given);
                    tracing[0] = !"none"
                            .equals(chosen.getOrDefault(
                                    "otel.traces.exporter", given.getString("otel.traces.exporter")));
                    return chosen;
                })
                .addResourceCustomizer((resource, given) ->
                        resource.toBuilder().put("service.version", version).build())
                .addMeterProviderCustomizer((builder, given) -> builder.registerMetricReader(prometheus))
                .build()
                .getOpenTelemetrySdk();
        return new Telemetry(sdk, prometheus, config, tracing[0]);
    }

    /**
     * Removes properties with an empty value. An empty value counts as not set (OpenTelemetry specification, "Parsing
     * empty value"), but the SDK would reject it.
     */
    private static Map<String, String> withoutEmpty(ConfigProperties given, Set<String> names) {
        Map<String, String> empty = new HashMap<>();
        Stream.of(names, System.getenv().keySet(), System.getProperties().stringPropertyNames())
                .flatMap(Set::stream)
                .map(name -> name.toLowerCase(Locale.ROOT).replace('_', '.'))
                .filter(name -> name.startsWith("otel."))
                .filter(name -> given.getString(name, "unset").isBlank())
                .forEach(name -> empty.put(name, null));
        return empty;
    }

    /** Chooses OTLP where an endpoint is set and no exporter elsewhere, unless the exporters are named. */
    private static Map<String, String> exporters(ConfigProperties given) {
        Map<String, String> chosen = new HashMap<>();
        for (String signal : new String[] {"traces", "metrics", "logs"}) {
            String exporter = "otel." + signal + ".exporter";
            if (given.getString(exporter) == null) {
                boolean endpoint = given.getString("otel.exporter.otlp.endpoint") != null
                        || given.getString("otel.exporter.otlp." + signal + ".endpoint") != null;
                chosen.put(exporter, endpoint && !"logs".equals(signal) ? "otlp" : "none");
            }
        }
        if (given.getString("otel.service.name") == null) {
            chosen.put("otel.service.name", "sidewarp");
        }
        return chosen;
    }

    /** Returns whether spans are exported. */
    public boolean isTracing() {
        return tracing;
    }

    public Tracer tracer() {
        return tracer;
    }

    public Meter meter() {
        return meter;
    }

    public WorkTotals work() {
        return work;
    }

    public ConnectionMetrics connections() {
        return connections;
    }

    public AssociationMetrics associations() {
        return associations;
    }

    public RecentErrors errors() {
        return errors;
    }

    /** Registers a gauge whose value is asked for at each collection. */
    public void gauge(String name, String description, String unit, LongSupplier value) {
        meter.gaugeBuilder(name)
                .ofLongs()
                .setDescription(description)
                .setUnit(unit)
                .buildWithCallback(measurement -> measurement.record(value.getAsLong()));
    }

    /** Runs a task before each collection of messages and bytes, until the returned handle is called. */
    public Runnable beforeCollection(Runnable task) {
        beforeCollection.add(task);
        return () -> beforeCollection.remove(task);
    }

    /** Returns all metrics in a format that Prometheus reads. */
    public Exposition scrape(@Nullable String accept) {
        ExpositionFormatWriter writer = formats.findWriter(accept);
        ByteArrayOutputStream body = new ByteArrayOutputStream(8192);
        try {
            writer.write(body, prometheus.collect());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Exposition(writer.getContentType(), body.toByteArray());
    }

    /** Metrics in a text format. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared; handed on once.
    public record Exposition(String contentType, byte[] body) {}

    /**
     * Flushes the exporters within the configured time. Their own shutdown may wait several times for a collector that
     * does not answer.
     */
    @Override
    public void close() {
        Thread shutdown = new Thread(
                () -> sdk.shutdown().join(shutdownTimeout.toMillis(), TimeUnit.MILLISECONDS), "sidewarp-telemetry-end");
        shutdown.setDaemon(true);
        shutdown.start();
        try {
            if (!shutdown.join(shutdownTimeout)) {
                LOG.warn("event=telemetry-lost reason=\"the collector did not take the last spans and metrics in"
                        + " time\"");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
