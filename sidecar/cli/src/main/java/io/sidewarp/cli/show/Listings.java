// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.client.AssociationInfo;
import io.sidewarp.client.AssociationInfo.Path;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.ConnectionInfo.Agreement;
import io.sidewarp.client.ConnectionInfo.Counters;
import io.sidewarp.client.OpenSessionInfo;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.RegionInfo;
import io.sidewarp.client.SecurityInUse;
import java.util.List;
import java.util.Locale;

/** The lists of objects that the command shows. */
final class Listings {

    static final Listing<OpenSessionInfo> SESSIONS = new Listing<OpenSessionInfo>("sessions")
            .both("NAME", "name", OpenSessionInfo::name)
            .both(">UID", "uid", OpenSessionInfo::uid)
            .both(">PID", "pid", OpenSessionInfo::pid)
            .both(">REGIONS", "regions", OpenSessionInfo::regions)
            .column(">REGISTERED", session -> Sizes.format(session.registeredBytes()))
            .member("registered_octets", OpenSessionInfo::registeredBytes)
            .both(">CONNECTIONS", "connections", OpenSessionInfo::connections)
            .both(">SHARED RQ", "shared_receive_queues", OpenSessionInfo::sharedReceiveQueues)
            .both(">LISTENERS", "listeners", OpenSessionInfo::listeners);

    static final Listing<RegionInfo> REGIONS = new Listing<RegionInfo>("regions")
            .both(">ID", "id", RegionInfo::id)
            .both("STAG", "stag", region -> String.format(Locale.ROOT, "0x%08x", region.stag()))
            .both(">BASE", "base_tagged_offset", region -> Long.toUnsignedString(region.baseTaggedOffset()))
            .column(">LENGTH", region -> Sizes.format(region.length()))
            .member("length", RegionInfo::length)
            .column("ACCESS", region -> String.join(",", plain(region.access())))
            .member("access", region -> plain(region.access()))
            .both("STATE", "state", region -> plain(region.state()))
            .both(">DOMAIN", "protection_domain", RegionInfo::protectionDomain)
            .column("CONNECTION", region -> region.connection() == 0 ? "any" : region.connection())
            .member("connection", RegionInfo::connection)
            .column("PEER", region -> region.peerIdentity().isEmpty() ? "any" : region.peerIdentity())
            .member("peer_identity", region -> !region.peerIdentity().isEmpty(), RegionInfo::peerIdentity)
            .both("SESSION", "session_name", RegionInfo::sessionName)
            .column("BACKING", Listings::backing)
            .member("path", RegionInfo::path)
            .member("process_memory", RegionInfo::processMemory);

    private static final Listing<Agreement> AGREEMENTS = new Listing<Agreement>("agreements")
            .column(">MPA", Agreement::mpaRevision)
            .column("CRC", agreed -> agreed.crc() ? "on" : "off")
            .column("MARKERS", Listings::markers)
            .column(">IRD/ORD", agreed -> agreed.ird() + "/" + agreed.ord())
            .column("SECURITY", Listings::security)
            .column("PEER", agreed -> agreed.peerIdentity().orElse(""))
            .member("ird", Agreement::ird)
            .member("ord", Agreement::ord)
            .member("crc", Agreement::crc)
            .member("receive_markers", Agreement::receiveMarkers)
            .member("send_markers", Agreement::sendMarkers)
            .member("security", Listings::security)
            .member(
                    "peer_ird",
                    agreed -> agreed.peerIrd().isPresent(),
                    agreed -> agreed.peerIrd().orElseThrow())
            .member(
                    "peer_ord",
                    agreed -> agreed.peerOrd().isPresent(),
                    agreed -> agreed.peerOrd().orElseThrow())
            .member(
                    "peer_identity",
                    agreed -> agreed.peerIdentity().isPresent(),
                    agreed -> agreed.peerIdentity().orElseThrow())
            .member("peer_to_peer", Agreement::peerToPeer)
            .member("mpa_revision", Agreement::mpaRevision)
            .member("protocol_version", Agreement::protocolVersion);

    private static final Listing<Counters> COUNTERS = new Listing<Counters>("counters")
            .column(">SENT", counters -> Sizes.format(counters.bytesSent()))
            .column(">RECEIVED", counters -> Sizes.format(counters.bytesReceived()))
            .column(">WRITES", counters -> counters.writesSent() + "/" + counters.writesReceived())
            .column(">READS", counters -> counters.readsSent() + "/" + counters.readsServed())
            .column(">SENDS", counters -> counters.sendsSent() + "/" + counters.sendsReceived())
            .column(">IMMEDIATES", counters -> counters.immediatesSent() + "/" + counters.immediatesReceived())
            .column(">ATOMICS", counters -> counters.atomicsSent() + "/" + counters.atomicsServed())
            .member("octets_sent", Counters::bytesSent)
            .member("octets_received", Counters::bytesReceived)
            .member("writes_sent", Counters::writesSent)
            .member("writes_received", Counters::writesReceived)
            .member("reads_sent", Counters::readsSent)
            .member("reads_served", Counters::readsServed)
            .member("sends_sent", Counters::sendsSent)
            .member("sends_received", Counters::sendsReceived)
            .member("segments_sent", Counters::segmentsSent)
            .member("segments_received", Counters::segmentsReceived)
            .member("immediates_sent", Counters::immediatesSent)
            .member("immediates_received", Counters::immediatesReceived)
            .member("atomics_sent", Counters::atomicsSent)
            .member("atomics_served", Counters::atomicsServed);

    private static final Listing<RdmaErrorInfo> ERRORS = new Listing<RdmaErrorInfo>("errors")
            .member("layer", RdmaErrorInfo::layer)
            .member("type", RdmaErrorInfo::type)
            .member("code", RdmaErrorInfo::code)
            .member("name", RdmaErrorInfo::name)
            .member("remote", RdmaErrorInfo::remote);

    static final Listing<ConnectionInfo> CONNECTIONS = new Listing<ConnectionInfo>("connections")
            .both(">ID", "id", ConnectionInfo::id)
            .both("STATE", "state", connection -> plain(connection.state()))
            .member("waiting", connection -> !connection.waiting().isEmpty(), ConnectionInfo::waiting)
            .both("LLP", "llp", connection -> plain(connection.llp()))
            .column("LOCAL", connection -> new HostPort(connection.localAddress(), connection.localPort()))
            .column("REMOTE", connection -> new HostPort(connection.remoteAddress(), connection.remotePort()))
            .member("local_address", ConnectionInfo::localAddress)
            .member("local_port", ConnectionInfo::localPort)
            .member("remote_address", ConnectionInfo::remoteAddress)
            .member("remote_port", ConnectionInfo::remotePort)
            .both("SESSION", "session_name", ConnectionInfo::sessionName)
            .member("initiator", ConnectionInfo::initiator)
            .columns(ConnectionInfo::agreed, AGREEMENTS)
            .members(ConnectionInfo::agreed, AGREEMENTS)
            .both(">MULPDU", "mulpdu", ConnectionInfo::mulpdu)
            .member("association", connection -> connection.association() != 0, ConnectionInfo::association)
            .member("stream", connection -> connection.association() != 0, ConnectionInfo::stream)
            .member(
                    "shared_receive_queue",
                    connection -> connection.sharedReceiveQueue() != 0,
                    ConnectionInfo::sharedReceiveQueue)
            .member("protection_domain", ConnectionInfo::protectionDomain)
            .columns(ConnectionInfo::counters, COUNTERS)
            .member("counters", connection -> COUNTERS.json(connection.counters()))
            .column(
                    "ERROR",
                    connection -> connection.error().map(RdmaErrorInfo::name).orElse(""))
            .member(
                    "error",
                    connection -> connection.error().isPresent(),
                    connection -> ERRORS.json(connection.error().orElseThrow()))
            .note(connection -> connection.waiting().isEmpty()
                    ? ""
                    : "connection " + connection.id() + ": " + connection.waiting());

    private static final Listing<Path> PATHS = new Listing<Path>("paths")
            .both("PATH", "address", Path::address)
            .column("STATE", path -> (path.active() ? "active" : "inactive") + (path.primary() ? ", primary" : ""))
            .member("primary", Path::primary)
            .member("active", Path::active)
            .column(">RTT", path -> path.smoothedRtt().toMillis() + " ms")
            .member("smoothed_rtt_ms", path -> path.smoothedRtt().toMillis())
            .column(">RTO", path -> path.rto().toMillis() + " ms")
            .member("rto_ms", path -> path.rto().toMillis())
            .column(">CWND", path -> Sizes.format(path.congestionWindow()))
            .member("congestion_window", Path::congestionWindow)
            .both(">MTU", "path_mtu", Path::pathMtu);

    private static final Listing<AssociationInfo> ASSOCIATIONS = new Listing<AssociationInfo>("associations")
            .both(">ID", "id", AssociationInfo::id)
            .member("initiator", AssociationInfo::initiator)
            .column("LOCAL", association -> new HostPort(association.localAddress(), association.localPort()))
            .column("REMOTE", association -> new HostPort(association.remoteAddress(), association.remotePort()))
            .member("local_address", AssociationInfo::localAddress)
            .member("local_port", AssociationInfo::localPort)
            .member("remote_address", AssociationInfo::remoteAddress)
            .member("remote_port", AssociationInfo::remotePort)
            .both(">UDP", "remote_udp_port", AssociationInfo::remoteUdpPort)
            .column(">STREAMS", association -> association.occupiedStreams() + "/" + association.streams())
            .member("streams", AssociationInfo::streams)
            .member("occupied_streams", AssociationInfo::occupiedStreams)
            .both(">SENT", "chunks_sent", AssociationInfo::chunksSent)
            .both(">RECEIVED", "chunks_received", AssociationInfo::chunksReceived)
            .both(">EARLY", "early_chunks", AssociationInfo::earlyChunks)
            .both(">AGAIN", "retransmitted_chunks", AssociationInfo::retransmittedChunks)
            .member("pending_chunks", AssociationInfo::pendingChunks)
            .member("unacknowledged_chunks", AssociationInfo::unacknowledgedChunks)
            .member("peer_window", AssociationInfo::peerWindow)
            .member("paths", association -> PATHS.json(association.paths()));

    /** The table of associations has a row for each path. */
    private static final Listing<AssociationPath> ASSOCIATION_PATHS = new Listing<AssociationPath>("associations")
            .columns(AssociationPath::association, ASSOCIATIONS)
            .columns(AssociationPath::path, PATHS);

    private record AssociationPath(AssociationInfo association, Path path) {}

    private Listings() {}

    static Listing.View associations(List<AssociationInfo> associations) {
        List<AssociationPath> rows = associations.stream()
                .flatMap(
                        association -> association.paths().stream().map(path -> new AssociationPath(association, path)))
                .toList();
        return new Listing.View(ASSOCIATION_PATHS.text(rows), ASSOCIATIONS.json(associations));
    }

    /** Returns a constant of the client in plain words, for example "waiting-for-peer". */
    static String plain(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static List<String> plain(List<? extends Enum<?>> constants) {
        return constants.stream().map(Listings::plain).toList();
    }

    private static String backing(RegionInfo region) {
        if (region.processMemory()) {
            return "(process)";
        }
        return region.path().isEmpty() ? "(managed)" : region.path();
    }

    private static String security(Agreement agreed) {
        return agreed.security() == SecurityInUse.UNKNOWN ? "" : plain(agreed.security());
    }

    private static String markers(Agreement agreed) {
        if (agreed.receiveMarkers()) {
            return agreed.sendMarkers() ? "both" : "in";
        }
        return agreed.sendMarkers() ? "out" : "none";
    }
}
