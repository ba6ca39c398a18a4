// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.TlsAttributes;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.transfer.SharedReceiveWork;
import io.sidewarp.v1.Association;
import io.sidewarp.v1.AssociationPath;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionCounters;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.SecurityInUse;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Converts connections and SCTP associations to the form of the API. */
public final class ConnectionProtos {

    private ConnectionProtos() {}

    static Connection connection(
            SessionConnection connection, ConnectionAttributes agreed, QueuePairCounters counters, String session) {
        Connection.Builder builder = Connection.newBuilder()
                .setId(connection.id())
                .setState(connection.state())
                .setWaiting(connection.waiting())
                .setLlp(agreed.llp() == io.sidewarp.engine.verbs.Llp.TCP ? Llp.LLP_TCP : Llp.LLP_SCTP)
                .setLocalAddress(address(agreed.localAddress()))
                .setLocalPort(agreed.localAddress().getPort())
                .setRemoteAddress(address(agreed.remoteAddress()))
                .setRemotePort(agreed.remoteAddress().getPort())
                .setPrivateData(ByteString.copyFrom(agreed.privateData()))
                .setIrd(agreed.ird())
                .setOrd(agreed.ord())
                .setCrc(agreed.crc())
                .setReceiveMarkers(agreed.receiveMarkers())
                .setSendMarkers(agreed.sendMarkers())
                .setMpaRevision(agreed.mpaRevision())
                .setProtocolVersion(agreed.protocolVersion())
                .setPeerToPeer(agreed.peerToPeer())
                .setMulpdu(agreed.mulpdu())
                .setAssociation(agreed.association())
                .setStream(agreed.stream())
                .setProtectionDomain(connection.domain().id())
                .setCounters(counters(counters))
                .setSessionName(session)
                .setInitiator(connection.isInitiator());
        TlsAttributes tls = agreed.tls();
        if (!agreed.remoteAddress().isUnresolved()) {
            builder.setSecurity(security(tls));
        }
        if (tls != null) {
            builder.setPeerIdentity(tls.peer().id().toString());
        }
        agreed.peerDepths().ird().ifPresent(builder::setPeerIrd);
        agreed.peerDepths().ord().ifPresent(builder::setPeerOrd);
        SharedReceiveWork shared = connection.work().sharedReceives();
        if (shared != null) {
            builder.setSharedReceiveQueue(shared.id());
        }
        StreamError error = connection.error();
        if (error != null) {
            builder.setError(ApiError.rdma(error));
        }
        return builder.build();
    }

    static ConnectionState state(QueuePairState state) {
        return switch (state) {
            case IDLE -> ConnectionState.CONNECTION_STATE_IDLE;
            case CONNECTING -> ConnectionState.CONNECTION_STATE_CONNECTING;
            case RTS -> ConnectionState.CONNECTION_STATE_ESTABLISHED;
            case CLOSING -> ConnectionState.CONNECTION_STATE_CLOSING;
            case TERMINATE -> ConnectionState.CONNECTION_STATE_TERMINATED;
            case CLOSED -> ConnectionState.CONNECTION_STATE_CLOSED;
        };
    }

    /** Returns the protection of a connection with these values of TLS; null: without TLS. */
    static SecurityInUse security(@Nullable TlsAttributes tls) {
        return tls == null ? SecurityInUse.SECURITY_IN_USE_PLAIN : SecurityInUse.SECURITY_IN_USE_TLS;
    }

    /** Returns the IP address, or an empty string if there is none yet. */
    static String address(InetSocketAddress address) {
        return address.getAddress() == null ? "" : address.getAddress().getHostAddress();
    }

    private static ConnectionCounters counters(QueuePairCounters counters) {
        return ConnectionCounters.newBuilder()
                .setOctetsSent(counters.octetsSent())
                .setOctetsReceived(counters.octetsReceived())
                .setWritesSent(counters.writesSent())
                .setWritesReceived(counters.writesReceived())
                .setReadsSent(counters.readsSent())
                .setReadsServed(counters.readsServed())
                .setSendsSent(counters.sendsSent())
                .setSendsReceived(counters.sendsReceived())
                .setSegmentsSent(counters.segmentsSent())
                .setSegmentsReceived(counters.segmentsReceived())
                .setImmediatesSent(counters.immediatesSent())
                .setImmediatesReceived(counters.immediatesReceived())
                .setAtomicsSent(counters.atomicsSent())
                .setAtomicsServed(counters.atomicsServed())
                .build();
    }

    /** Converts an SCTP association. */
    public static Association association(AssociationAttributes attributes) {
        Association.Builder builder = Association.newBuilder()
                .setId(attributes.id())
                .setInitiator(attributes.initiator())
                .setLocalAddress(address(attributes.localAddress()))
                .setLocalPort(attributes.localAddress().getPort())
                .setRemoteAddress(address(attributes.remoteAddress()))
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
