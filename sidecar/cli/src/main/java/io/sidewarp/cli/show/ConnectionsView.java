// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.RdmaErrorInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Connections and their counters. */
record ConnectionsView(List<ConnectionInfo> connections) implements View {

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
        for (ConnectionInfo connection : connections) {
            ConnectionInfo.Counters counters = connection.counters();
            table.row(
                    connection.id(),
                    View.plain(connection.state()),
                    View.plain(connection.llp()),
                    new HostPort(connection.localAddress(), connection.localPort()),
                    new HostPort(connection.remoteAddress(), connection.remotePort()),
                    connection.sessionName(),
                    connection.agreed().mpaRevision(),
                    connection.agreed().crc() ? "on" : "off",
                    markers(connection),
                    connection.agreed().ird() + "/" + connection.agreed().ord(),
                    connection.mulpdu(),
                    Sizes.format(counters.bytesSent()),
                    Sizes.format(counters.bytesReceived()),
                    counters.writesSent() + "/" + counters.writesReceived(),
                    counters.readsSent() + "/" + counters.readsServed(),
                    counters.sendsSent() + "/" + counters.sendsReceived(),
                    counters.immediatesSent() + "/" + counters.immediatesReceived(),
                    counters.atomicsSent() + "/" + counters.atomicsServed(),
                    connection.error().map(RdmaErrorInfo::name).orElse(""));
        }
        StringBuilder text = new StringBuilder(table.render());
        for (ConnectionInfo connection : connections) {
            if (!connection.waiting().isEmpty()) {
                text.append("connection ")
                        .append(connection.id())
                        .append(": ")
                        .append(connection.waiting())
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static String markers(ConnectionInfo connection) {
        if (connection.agreed().receiveMarkers()) {
            return connection.agreed().sendMarkers() ? "both" : "in";
        }
        return connection.agreed().sendMarkers() ? "out" : "none";
    }

    @Override
    public Object json() {
        return connections.stream().map(ConnectionsView::json).toList();
    }

    private static Map<String, Object> json(ConnectionInfo connection) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", connection.id());
        json.put("state", View.plain(connection.state()));
        if (!connection.waiting().isEmpty()) {
            json.put("waiting", connection.waiting());
        }
        json.put("llp", View.plain(connection.llp()));
        json.put("local_address", connection.localAddress());
        json.put("local_port", connection.localPort());
        json.put("remote_address", connection.remoteAddress());
        json.put("remote_port", connection.remotePort());
        json.put("session_name", connection.sessionName());
        json.put("initiator", connection.initiator());
        json.put("ird", connection.agreed().ird());
        json.put("ord", connection.agreed().ord());
        json.put("crc", connection.agreed().crc());
        json.put("receive_markers", connection.agreed().receiveMarkers());
        json.put("send_markers", connection.agreed().sendMarkers());
        connection.agreed().peerIrd().ifPresent(ird -> json.put("peer_ird", ird));
        connection.agreed().peerOrd().ifPresent(ord -> json.put("peer_ord", ord));
        json.put("peer_to_peer", connection.agreed().peerToPeer());
        json.put("mpa_revision", connection.agreed().mpaRevision());
        json.put("protocol_version", connection.agreed().protocolVersion());
        json.put("mulpdu", connection.mulpdu());
        if (connection.association() != 0) {
            json.put("association", connection.association());
            json.put("stream", connection.stream());
        }
        if (connection.sharedReceiveQueue() != 0) {
            json.put("shared_receive_queue", connection.sharedReceiveQueue());
        }
        json.put("protection_domain", connection.protectionDomain());
        json.put("counters", counters(connection.counters()));
        connection
                .error()
                .ifPresent(error -> json.put(
                        "error",
                        Map.of(
                                "layer", error.layer(),
                                "type", error.type(),
                                "code", error.code(),
                                "name", error.name(),
                                "remote", error.remote())));
        return json;
    }

    private static Map<String, Object> counters(ConnectionInfo.Counters counters) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("octets_sent", counters.bytesSent());
        json.put("octets_received", counters.bytesReceived());
        json.put("writes_sent", counters.writesSent());
        json.put("writes_received", counters.writesReceived());
        json.put("reads_sent", counters.readsSent());
        json.put("reads_served", counters.readsServed());
        json.put("sends_sent", counters.sendsSent());
        json.put("sends_received", counters.sendsReceived());
        json.put("segments_sent", counters.segmentsSent());
        json.put("segments_received", counters.segmentsReceived());
        json.put("immediates_sent", counters.immediatesSent());
        json.put("immediates_received", counters.immediatesReceived());
        json.put("atomics_sent", counters.atomicsSent());
        json.put("atomics_served", counters.atomicsServed());
        return json;
    }
}
