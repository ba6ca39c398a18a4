// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

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

    /** Version of the JSON object. */
    private static final int JSON_VERSION = 1;

    private static final double GIB = 1L << 30;

    /**
     * Minimum message size for which CPU time per byte is shown. The bytes of smaller messages are not the main cost.
     */
    private static final long LEAST_SIZE_FOR_CPU = 1024;

    /** CPU time of the four processes during the measurement; -1 when unknown. */
    public record CpuNanos(long client, long clientSidecar, long server, long serverSidecar) {}

    public double seconds() {
        return nanos / 1e9;
    }

    public double messagesPerSecond() {
        return messages / seconds();
    }

    public long octets() {
        return messages * plan.size();
    }

    public double gigabitsPerSecond() {
        return octets() * 8 / seconds() / 1e9;
    }

    /** Returns the kind of latency: of a completion, or half of the round trip. */
    public String latencyKind() {
        return plan.latency() && plan.operation() != Operation.READ ? "half-round-trip" : "completion";
    }

    /** Returns the object that docs/cli.md describes. */
    public Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("version", JSON_VERSION);
        json.put("operation", plan.operation().toString());
        json.put("mode", plan.latency() ? "latency" : "throughput");
        json.put("size", plan.size());
        json.put("depth", plan.depth());
        json.put("signal", plan.signal());
        json.put("connections", plan.connections());
        json.put("seconds", seconds());
        json.put("messages", messages);
        json.put("octets", octets());
        json.put("gigabits_per_second", gigabitsPerSecond());
        json.put("gigabytes_per_second", gigabitsPerSecond() / 8);
        json.put("messages_per_second", messagesPerSecond());
        json.put("latency_microseconds", latencyJson());
        json.put("cpu_seconds", cpuJson(1));
        json.put("cpu_seconds_per_gib", cpuJson(octets() / GIB));
        Map<String, Object> link = new LinkedHashMap<>();
        link.put("llp", connection.llp().name().toLowerCase(Locale.ROOT));
        link.put("crc", connection.agreed().crc());
        link.put("receive_markers", connection.agreed().receiveMarkers());
        link.put("send_markers", connection.agreed().sendMarkers());
        link.put("mulpdu", connection.mulpdu());
        link.put("ord", connection.agreed().ord());
        json.put("connection", link);
        json.put("verified", !plan.latency());
        return json;
    }

    /** Returns the titles of {@link #row()}. */
    static String[] titles(boolean latency) {
        return latency
                ? new String[] {"LATENCY", ">SIZE", ">SAMPLES", ">MIN", ">P50", ">P99", ">P99.9", ">MAX", "MEASURED"}
                : new String[] {
                    "OPERATION",
                    ">SIZE",
                    ">DEPTH",
                    ">GBIT/S",
                    ">GB/S",
                    ">MESSAGES/S",
                    ">P50",
                    ">P99",
                    ">P99.9",
                    ">CPU S/GIB"
                };
    }

    /** Returns the figures for people. */
    Object[] row() {
        return plan.latency() ? latencyRow() : throughputRow();
    }

    private Object[] latencyRow() {
        return new Object[] {
            plan.operation(),
            Sizes.format(plan.size()),
            latencies.count(),
            Times.format(latencies.min()),
            Times.format(latencies.percentile(50)),
            Times.format(latencies.percentile(99)),
            Times.format(latencies.percentile(99.9)),
            Times.format(latencies.max()),
            plan.operation() == Operation.READ ? "post to completion" : "half of the round trip"
        };
    }

    private Object[] throughputRow() {
        double cpuPerGib = sum(1) / (octets() / GIB);
        return new Object[] {
            plan.operation(),
            Sizes.format(plan.size()),
            plan.depth(),
            decimals(gigabitsPerSecond()),
            decimals(gigabitsPerSecond() / 8),
            String.format(Locale.ROOT, "%.0f", messagesPerSecond()),
            Times.format(latencies.percentile(50)),
            Times.format(latencies.percentile(99)),
            Times.format(latencies.percentile(99.9)),
            plan.size() >= LEAST_SIZE_FOR_CPU && cpuPerGib >= 0 ? decimals(cpuPerGib) : ""
        };
    }

    private Map<String, Object> latencyJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", latencyKind());
        json.put("samples", latencies.count());
        json.put("min", micros(latencies.min()));
        json.put("mean", latencies.mean() / 1e3);
        json.put("p50", micros(latencies.percentile(50)));
        json.put("p99", micros(latencies.percentile(99)));
        json.put("p99_9", micros(latencies.percentile(99.9)));
        json.put("max", micros(latencies.max()));
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

    /** Returns the sum, or NaN when one of the values is unknown. */
    private double sum(double divisor) {
        return seconds(cpu.client(), divisor)
                + seconds(cpu.clientSidecar(), divisor)
                + seconds(cpu.server(), divisor)
                + seconds(cpu.serverSidecar(), divisor);
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }

    private static double seconds(long nanos, double divisor) {
        return nanos < 0 ? Double.NaN : nanos / 1e9 / divisor;
    }

    private static String decimals(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.3f" : "%.2f", value);
    }
}
