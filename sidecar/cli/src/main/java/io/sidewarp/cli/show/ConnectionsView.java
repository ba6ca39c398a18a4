// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionCounters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Connections and their counters. */
record ConnectionsView(List<Connection> connections) implements View {

    @Override
    public String text() {
        if (connections.isEmpty()) {
            return "no connections\n";
        }
        Table table = new Table(
                ">ID",
                "STATE",
                "LLP",
                "LOCAL",
                "REMOTE",
                "SESSION",
                ">MPA",
                "CRC",
                "MARKERS",
                ">IRD/ORD",
                ">MULPDU",
                ">SENT",
                ">RECEIVED",
                ">WRITES",
                ">READS",
                ">SENDS",
                ">IMMEDIATES",
                ">ATOMICS",
                "ERROR");
        for (Connection connection : connections) {
            ConnectionCounters counters = connection.getCounters();
            table.row(
                    connection.getId(),
                    View.plain(connection.getState(), "CONNECTION_STATE_"),
                    View.plain(connection.getLlp(), "LLP_"),
                    new HostPort(connection.getLocalAddress(), connection.getLocalPort()),
                    new HostPort(connection.getRemoteAddress(), connection.getRemotePort()),
                    connection.getSessionName(),
                    connection.getMpaRevision(),
                    connection.getCrc() ? "on" : "off",
                    markers(connection),
                    connection.getIrd() + "/" + connection.getOrd(),
                    connection.getMulpdu(),
                    Sizes.format(counters.getOctetsSent()),
                    Sizes.format(counters.getOctetsReceived()),
                    counters.getWritesSent() + "/" + counters.getWritesReceived(),
                    counters.getReadsSent() + "/" + counters.getReadsServed(),
                    counters.getSendsSent() + "/" + counters.getSendsReceived(),
                    counters.getImmediatesSent() + "/" + counters.getImmediatesReceived(),
                    counters.getAtomicsSent() + "/" + counters.getAtomicsServed(),
                    connection.hasError() ? connection.getError().getName() : "");
        }
        StringBuilder text = new StringBuilder(table.render());
        for (Connection connection : connections) {
            if (!connection.getWaiting().isEmpty()) {
                text.append("connection ")
                        .append(connection.getId())
                        .append(": ")
                        .append(connection.getWaiting())
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static String markers(Connection connection) {
        if (connection.getReceiveMarkers()) {
            return connection.getSendMarkers() ? "both" : "in";
        }
        return connection.getSendMarkers() ? "out" : "none";
    }

    @Override
    public Object json() {
        return connections.stream().map(ConnectionsView::json).toList();
    }

    private static Map<String, Object> json(Connection connection) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", connection.getId());
        json.put("state", View.plain(connection.getState(), "CONNECTION_STATE_"));
        if (!connection.getWaiting().isEmpty()) {
            json.put("waiting", connection.getWaiting());
        }
        json.put("llp", View.plain(connection.getLlp(), "LLP_"));
        json.put("local_address", connection.getLocalAddress());
        json.put("local_port", connection.getLocalPort());
        json.put("remote_address", connection.getRemoteAddress());
        json.put("remote_port", connection.getRemotePort());
        json.put("session_name", connection.getSessionName());
        json.put("initiator", connection.getInitiator());
        json.put("ird", connection.getIrd());
        json.put("ord", connection.getOrd());
        json.put("crc", connection.getCrc());
        json.put("receive_markers", connection.getReceiveMarkers());
        json.put("send_markers", connection.getSendMarkers());
        if (connection.hasPeerIrd()) {
            json.put("peer_ird", connection.getPeerIrd());
        }
        if (connection.hasPeerOrd()) {
            json.put("peer_ord", connection.getPeerOrd());
        }
        json.put("peer_to_peer", connection.getPeerToPeer());
        json.put("mpa_revision", connection.getMpaRevision());
        json.put("protocol_version", connection.getProtocolVersion());
        json.put("mulpdu", connection.getMulpdu());
        if (connection.getAssociation() != 0) {
            json.put("association", connection.getAssociation());
            json.put("stream", connection.getStream());
        }
        if (connection.getSharedReceiveQueue() != 0) {
            json.put("shared_receive_queue", connection.getSharedReceiveQueue());
        }
        json.put("protection_domain", connection.getProtectionDomain());
        json.put("counters", counters(connection.getCounters()));
        if (connection.hasError()) {
            json.put(
                    "error",
                    Map.of(
                            "layer", connection.getError().getLayer(),
                            "type", connection.getError().getType(),
                            "code", connection.getError().getCode(),
                            "name", connection.getError().getName(),
                            "remote", connection.getError().getRemote()));
        }
        return json;
    }

    private static Map<String, Object> counters(ConnectionCounters counters) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("octets_sent", counters.getOctetsSent());
        json.put("octets_received", counters.getOctetsReceived());
        json.put("writes_sent", counters.getWritesSent());
        json.put("writes_received", counters.getWritesReceived());
        json.put("reads_sent", counters.getReadsSent());
        json.put("reads_served", counters.getReadsServed());
        json.put("sends_sent", counters.getSendsSent());
        json.put("sends_received", counters.getSendsReceived());
        json.put("segments_sent", counters.getSegmentsSent());
        json.put("segments_received", counters.getSegmentsReceived());
        json.put("immediates_sent", counters.getImmediatesSent());
        json.put("immediates_received", counters.getImmediatesReceived());
        json.put("atomics_sent", counters.getAtomicsSent());
        json.put("atomics_served", counters.getAtomicsServed());
        return json;
    }
}
