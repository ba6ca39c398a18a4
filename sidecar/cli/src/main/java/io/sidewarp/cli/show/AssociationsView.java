// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import com.google.protobuf.Duration;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.v1.Association;
import io.sidewarp.v1.AssociationPath;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** SCTP associations, a row for each path. */
record AssociationsView(List<Association> associations) implements View {

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
        for (Association association : associations) {
            for (AssociationPath path : association.getPathsList()) {
                table.row(
                        association.getId(),
                        new HostPort(association.getLocalAddress(), association.getLocalPort()),
                        new HostPort(association.getRemoteAddress(), association.getRemotePort()),
                        association.getRemoteUdpPort(),
                        association.getOccupiedStreams() + "/" + association.getStreams(),
                        association.getChunksSent(),
                        association.getChunksReceived(),
                        association.getEarlyChunks(),
                        association.getRetransmittedChunks(),
                        path.getAddress(),
                        (path.getActive() ? "active" : "inactive") + (path.getPrimary() ? ", primary" : ""),
                        millis(path.getSmoothedRtt()) + " ms",
                        millis(path.getRto()) + " ms",
                        Sizes.format(path.getCongestionWindow()),
                        path.getPathMtu());
            }
        }
        return table.render();
    }

    @Override
    public Object json() {
        return associations.stream().map(AssociationsView::json).toList();
    }

    private static Map<String, Object> json(Association association) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", association.getId());
        json.put("initiator", association.getInitiator());
        json.put("local_address", association.getLocalAddress());
        json.put("local_port", association.getLocalPort());
        json.put("remote_address", association.getRemoteAddress());
        json.put("remote_port", association.getRemotePort());
        json.put("remote_udp_port", association.getRemoteUdpPort());
        json.put("streams", association.getStreams());
        json.put("occupied_streams", association.getOccupiedStreams());
        json.put("chunks_sent", association.getChunksSent());
        json.put("chunks_received", association.getChunksReceived());
        json.put("early_chunks", association.getEarlyChunks());
        json.put("retransmitted_chunks", association.getRetransmittedChunks());
        json.put("pending_chunks", association.getPendingChunks());
        json.put("unacknowledged_chunks", association.getUnacknowledgedChunks());
        json.put("peer_window", association.getPeerWindow());
        json.put(
                "paths",
                association.getPathsList().stream().map(AssociationsView::json).toList());
        return json;
    }

    private static Map<String, Object> json(AssociationPath path) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("address", path.getAddress());
        json.put("primary", path.getPrimary());
        json.put("active", path.getActive());
        json.put("smoothed_rtt_ms", millis(path.getSmoothedRtt()));
        json.put("rto_ms", millis(path.getRto()));
        json.put("congestion_window", path.getCongestionWindow());
        json.put("path_mtu", path.getPathMtu());
        return json;
    }

    private static long millis(Duration duration) {
        return TimeUnit.SECONDS.toMillis(duration.getSeconds()) + TimeUnit.NANOSECONDS.toMillis(duration.getNanos());
    }
}
