// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.client.ConnectionInfo;
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
    /** SPIFFE ID of the peer, on a connection with TLS. */
    static final String PEER = "peer";

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
    static void tellConnection(PrintWriter out, ConnectionInfo connection) {
        tell(out, "local", connection.localAddress() + ":" + connection.localPort());
        tell(out, "remote", connection.remoteAddress() + ":" + connection.remotePort());
        tell(out, "llp", connection.llp());
        tell(out, "revision", connection.agreed().mpaRevision());
        tell(out, "mulpdu", connection.mulpdu());
        connection.agreed().peerIdentity().ifPresent(peer -> tell(out, PEER, peer));
        tell(out, "crc", connection.agreed().crc());
        tell(
                out,
                "markers",
                connection.agreed().receiveMarkers() || connection.agreed().sendMarkers());
        ConnectionInfo.Counters counters = connection.counters();
        tell(out, "octets.sent", counters.bytesSent());
        tell(out, "octets.received", counters.bytesReceived());
        tell(out, "segments.sent", counters.segmentsSent());
        tell(out, "segments.received", counters.segmentsReceived());
        tell(out, "writes.sent", counters.writesSent());
        tell(out, "writes.received", counters.writesReceived());
        tell(out, "reads.sent", counters.readsSent());
        tell(out, "reads.served", counters.readsServed());
        tell(out, "sends.sent", counters.sendsSent());
        tell(out, "sends.received", counters.sendsReceived());
    }

    static void tellLatency(PrintWriter out, String operation, Histogram latencies) {
        tell(out, "latency." + operation + ".p50", latencies.percentile(50));
        tell(out, "latency." + operation + ".p99", latencies.percentile(99));
        tell(out, "latency." + operation + ".p99_9", latencies.percentile(99.9));
    }
}
