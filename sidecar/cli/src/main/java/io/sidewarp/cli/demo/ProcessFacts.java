// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionCounters;
import io.sidewarp.v1.Llp;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;

/**
 * Facts that the demo's processes report to their parent: lines of {@code key=value} on standard output.
 *
 * @param values by key
 */
record ProcessFacts(Map<String, String> values) {

    static final String PROGRESS = "progress";

    ProcessFacts() {
        this(new HashMap<>());
    }

    /** Adds the fact of a line. */
    void add(String line) {
        int separator = line.indexOf('=');
        if (separator > 0) {
            values.put(line.substring(0, separator), line.substring(separator + 1));
        }
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    /** @throws IllegalStateException when the process did not report the fact */
    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalStateException("the process did not report " + key);
        }
        return value;
    }

    long number(String key) {
        return Long.parseLong(text(key));
    }

    static void tell(PrintWriter out, String key, Object value) {
        out.println(key + "=" + value);
        out.flush();
    }

    /** Reports how a connection was set up, and its counters. */
    static void tellConnection(PrintWriter out, Connection connection) {
        tell(out, "local", connection.getLocalAddress() + ":" + connection.getLocalPort());
        tell(out, "remote", connection.getRemoteAddress() + ":" + connection.getRemotePort());
        tell(out, "llp", connection.getLlp() == Llp.LLP_SCTP ? "SCTP" : "TCP");
        tell(out, "revision", connection.getMpaRevision());
        tell(out, "mulpdu", connection.getMulpdu());
        tell(out, "crc", connection.getCrc());
        tell(out, "markers", connection.getReceiveMarkers() || connection.getSendMarkers());
        ConnectionCounters counters = connection.getCounters();
        tell(out, "octets.sent", counters.getOctetsSent());
        tell(out, "octets.received", counters.getOctetsReceived());
        tell(out, "segments.sent", counters.getSegmentsSent());
        tell(out, "segments.received", counters.getSegmentsReceived());
        tell(out, "writes.sent", counters.getWritesSent());
        tell(out, "writes.received", counters.getWritesReceived());
        tell(out, "reads.sent", counters.getReadsSent());
        tell(out, "reads.served", counters.getReadsServed());
        tell(out, "sends.sent", counters.getSendsSent());
        tell(out, "sends.received", counters.getSendsReceived());
    }

    static void tellLatency(PrintWriter out, String operation, Histogram latencies) {
        tell(out, "latency." + operation + ".p50", latencies.percentile(50));
        tell(out, "latency." + operation + ".p99", latencies.percentile(99));
        tell(out, "latency." + operation + ".p99_9", latencies.percentile(99.9));
    }
}
