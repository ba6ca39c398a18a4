// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.ConnectionInfo;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Result of a test.
 *
 * @param connection as its set-up agreed
 * @param nanos time of the measurement
 * @param messages complete in this time, over all connections
 * @param latencies in nanoseconds
 */
public record PerfResult(
        PerfPlan plan, ConnectionInfo connection, long nanos, long messages, Histogram latencies, CpuNanos cpu) {

    /** Version of the JSON objects. */
    static final int JSON_VERSION = 1;

    private static final double GIB = 1L << 30;

    /**
     * Minimum message size for which CPU time per byte is shown. The bytes of smaller messages are not the main cost.
     */
    private static final long LEAST_SIZE_FOR_CPU = 1024;

    private static final Listing<Histogram> LATENCIES = new Listing<Histogram>("latencies")
            .column(">P50", latencies -> Times.format(latencies.percentile(50)))
            .column(">P99", latencies -> Times.format(latencies.percentile(99)))
            .column(">P99.9", latencies -> Times.format(latencies.percentile(99.9)))
            .member("samples", Histogram::count)
            .member("min", latencies -> latencies.min() / 1e3)
            .member("mean", latencies -> latencies.mean() / 1e3)
            .member("p50", latencies -> latencies.percentile(50) / 1e3)
            .member("p99", latencies -> latencies.percentile(99) / 1e3)
            .member("p99_9", latencies -> latencies.percentile(99.9) / 1e3)
            .member("max", latencies -> latencies.max() / 1e3);

    private static final Listing<ConnectionInfo> CONNECTIONS = new Listing<ConnectionInfo>("connections")
            .member("llp", connection -> connection.llp().name().toLowerCase(Locale.ROOT))
            .member("crc", connection -> connection.agreed().crc())
            .member("receive_markers", connection -> connection.agreed().receiveMarkers())
            .member("send_markers", connection -> connection.agreed().sendMarkers())
            .member("mulpdu", ConnectionInfo::mulpdu)
            .member("ord", connection -> connection.agreed().ord());

    /** Results of throughput tests, and the object that docs/cli.md describes. */
    static final Listing<PerfResult> THROUGHPUT = new Listing<PerfResult>("results")
            .column("OPERATION", result -> result.plan.operation())
            .column(">SIZE", result -> Sizes.format(result.plan.size()))
            .column(">DEPTH", result -> result.plan.depth())
            .column(">GBIT/S", result -> decimals(result.gigabitsPerSecond()))
            .column(">GB/S", result -> decimals(result.gigabitsPerSecond() / 8))
            .column(">MESSAGES/S", result -> String.format(Locale.ROOT, "%.0f", result.messagesPerSecond()))
            .columns(PerfResult::latencies, LATENCIES)
            .column(">CPU S/GIB", PerfResult::cpuPerGib)
            .member("version", _ -> JSON_VERSION)
            .member("operation", result -> result.plan.operation())
            .member("mode", result -> result.plan.latency() ? "latency" : "throughput")
            .member("size", result -> result.plan.size())
            .member("depth", result -> result.plan.depth())
            .member("signal", result -> result.plan.signal())
            .member("connections", result -> result.plan.connections())
            .member("seconds", PerfResult::seconds)
            .member("messages", PerfResult::messages)
            .member("octets", PerfResult::octets)
            .member("gigabits_per_second", PerfResult::gigabitsPerSecond)
            .member("gigabytes_per_second", result -> result.gigabitsPerSecond() / 8)
            .member("messages_per_second", PerfResult::messagesPerSecond)
            .member("latency_microseconds", PerfResult::latencyJson)
            .member("cpu_seconds", result -> result.cpuJson(1))
            .member("cpu_seconds_per_gib", result -> result.cpuJson(result.octets() / GIB))
            .member("connection", result -> CONNECTIONS.json(result.connection))
            .member("verified", result -> !result.plan.latency());

    /** Results of latency tests. Their object is the same as for throughput. */
    static final Listing<PerfResult> LATENCY = new Listing<PerfResult>("results")
            .column("LATENCY", result -> result.plan.operation())
            .column(">SIZE", result -> Sizes.format(result.plan.size()))
            .column(">SAMPLES", result -> result.latencies.count())
            .column(">MIN", result -> Times.format(result.latencies.min()))
            .columns(PerfResult::latencies, LATENCIES)
            .column(">MAX", result -> Times.format(result.latencies.max()))
            .column("MEASURED", result -> result.isHalfRoundTrip() ? "half of the round trip" : "post to completion")
            .members(result -> result, THROUGHPUT);

    /** CPU time of the four processes during the measurement; -1 when unknown. */
    public record CpuNanos(long client, long clientSidecar, long server, long serverSidecar) {}

    private double seconds() {
        return nanos / 1e9;
    }

    private double messagesPerSecond() {
        return messages / seconds();
    }

    private long octets() {
        return messages * plan.size();
    }

    private double gigabitsPerSecond() {
        return octets() * 8 / seconds() / 1e9;
    }

    /** Returns whether the latency is half of the round trip, and not the time to a completion. */
    private boolean isHalfRoundTrip() {
        return plan.latency() && plan.operation() != Operation.READ;
    }

    private Map<String, Object> latencyJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", isHalfRoundTrip() ? "half-round-trip" : "completion");
        json.putAll(LATENCIES.json(latencies));
        return json;
    }

    private Map<String, Object> cpuJson(double divisor) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("client", seconds(cpu.client(), divisor));
        json.put("client_sidecar", seconds(cpu.clientSidecar(), divisor));
        json.put("server", seconds(cpu.server(), divisor));
        json.put("server_sidecar", seconds(cpu.serverSidecar(), divisor));
        json.put("total", sum(divisor));
        return json;
    }

    private String cpuPerGib() {
        double seconds = sum(octets() / GIB);
        return plan.size() >= LEAST_SIZE_FOR_CPU && seconds >= 0 ? decimals(seconds) : "";
    }

    /** Returns the sum, or NaN when one of the values is unknown. */
    private double sum(double divisor) {
        return seconds(cpu.client(), divisor)
                + seconds(cpu.clientSidecar(), divisor)
                + seconds(cpu.server(), divisor)
                + seconds(cpu.serverSidecar(), divisor);
    }

    private static double seconds(long nanos, double divisor) {
        return nanos < 0 ? Double.NaN : nanos / 1e9 / divisor;
    }

    private static String decimals(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.3f" : "%.2f", value);
    }
}
