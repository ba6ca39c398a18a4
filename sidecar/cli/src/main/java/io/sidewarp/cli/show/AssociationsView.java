// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.AssociationInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** SCTP associations, a row for each path. */
record AssociationsView(List<AssociationInfo> associations) implements View {

    @Override
    public String text() {
        if (associations.isEmpty()) {
            return "no associations\n";
        }
        Table table = new Table(
                ">ID",
                "LOCAL",
                "REMOTE",
                ">UDP",
                ">STREAMS",
                ">SENT",
                ">RECEIVED",
                ">EARLY",
                ">AGAIN",
                "PATH",
                "STATE",
                ">RTT",
                ">RTO",
                ">CWND",
                ">MTU");
        for (AssociationInfo association : associations) {
            for (AssociationInfo.Path path : association.paths()) {
                table.row(
                        association.id(),
                        new HostPort(association.localAddress(), association.localPort()),
                        new HostPort(association.remoteAddress(), association.remotePort()),
                        association.remoteUdpPort(),
                        association.occupiedStreams() + "/" + association.streams(),
                        association.chunksSent(),
                        association.chunksReceived(),
                        association.earlyChunks(),
                        association.retransmittedChunks(),
                        path.address(),
                        (path.active() ? "active" : "inactive") + (path.primary() ? ", primary" : ""),
                        path.smoothedRtt().toMillis() + " ms",
                        path.rto().toMillis() + " ms",
                        Sizes.format(path.congestionWindow()),
                        path.pathMtu());
            }
        }
        return table.render();
    }

    @Override
    public Object json() {
        return associations.stream().map(AssociationsView::json).toList();
    }

    private static Map<String, Object> json(AssociationInfo association) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", association.id());
        json.put("initiator", association.initiator());
        json.put("local_address", association.localAddress());
        json.put("local_port", association.localPort());
        json.put("remote_address", association.remoteAddress());
        json.put("remote_port", association.remotePort());
        json.put("remote_udp_port", association.remoteUdpPort());
        json.put("streams", association.streams());
        json.put("occupied_streams", association.occupiedStreams());
        json.put("chunks_sent", association.chunksSent());
        json.put("chunks_received", association.chunksReceived());
        json.put("early_chunks", association.earlyChunks());
        json.put("retransmitted_chunks", association.retransmittedChunks());
        json.put("pending_chunks", association.pendingChunks());
        json.put("unacknowledged_chunks", association.unacknowledgedChunks());
        json.put("peer_window", association.peerWindow());
        json.put(
                "paths",
                association.paths().stream().map(AssociationsView::json).toList());
        return json;
    }

    private static Map<String, Object> json(AssociationInfo.Path path) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("address", path.address());
        json.put("primary", path.primary());
        json.put("active", path.active());
        json.put("smoothed_rtt_ms", path.smoothedRtt().toMillis());
        json.put("rto_ms", path.rto().toMillis());
        json.put("congestion_window", path.congestionWindow());
        json.put("path_mtu", path.pathMtu());
        return json;
    }
}
