// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.Duration;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.v1.Association;
import io.sidewarp.v1.AssociationPath;

/** Converts SCTP associations to the form of the API. */
public final class AssociationProtos {

    private AssociationProtos() {}

    public static Association association(AssociationAttributes attributes) {
        Association.Builder builder = Association.newBuilder()
                .setId(attributes.id())
                .setInitiator(attributes.initiator())
                .setLocalAddress(ConnectionProtos.address(attributes.localAddress()))
                .setLocalPort(attributes.localAddress().getPort())
                .setRemoteAddress(ConnectionProtos.address(attributes.remoteAddress()))
                .setRemotePort(attributes.remoteAddress().getPort())
                .setRemoteUdpPort(attributes.remoteUdpPort())
                .setStreams(attributes.streams())
                .setOccupiedStreams(attributes.occupiedStreams())
                .setChunksSent(attributes.chunksSent())
                .setChunksReceived(attributes.chunksReceived())
                .setEarlyChunks(attributes.earlyChunks())
                .setRetransmittedChunks(attributes.retransmittedChunks())
                .setPendingChunks(attributes.pendingChunks())
                .setUnacknowledgedChunks(attributes.unacknowledgedChunks())
                .setPeerWindow(attributes.peerWindow());
        attributes.paths().forEach(path -> builder.addPaths(path(path)));
        return builder.build();
    }

    private static AssociationPath path(io.sidewarp.engine.verbs.AssociationPath path) {
        return AssociationPath.newBuilder()
                .setAddress(path.remote().getHostAddress())
                .setPrimary(path.primary())
                .setActive(path.active())
                .setSmoothedRtt(duration(path.smoothedRtt()))
                .setRto(duration(path.rto()))
                .setCongestionWindow(path.congestionWindow())
                .setPathMtu(path.pathMtu())
                .build();
    }

    private static Duration duration(java.time.Duration duration) {
        return Duration.newBuilder()
                .setSeconds(duration.getSeconds())
                .setNanos(duration.getNano())
                .build();
    }
}
