// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.Association;
import io.sidewarp.v1.AssociationPath;
import io.sidewarp.v1.ConnectionCounters;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.Limits;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SessionInfo;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Converts the sidecar's descriptions of its objects, and its events, into the client's own types. */
final class Descriptions {

    private static final Connection.State[] CONNECTION_STATES = Connection.State.values();
    private static final SecurityInUse[] SECURITIES = SecurityInUse.values();
    private static final RegionInfo.State[] REGION_STATES = RegionInfo.State.values();

    private Descriptions() {}

    static RdmaDeviceInfo device(DeviceInfo device) {
        return new RdmaDeviceInfo(
                device.getProvider(),
                device.getVersion(),
                known(LowerLayerProtocol.class, device.getLlpsValueList()),
                device.getSharedVolume(),
                limits(device.getLimits()),
                device.getPageSize(),
                known(RdmaDeviceInfo.Capability.class, device.getCapabilitiesValueList()));
    }

    static SessionLimits limits(Limits limits) {
        return new SessionLimits(
                limits.getMaxRegions(),
                limits.getMaxRegisteredOctets(),
                limits.getMaxManagedRegionOctets(),
                limits.getMaxConnections(),
                limits.getMaxListeners(),
                limits.getMaxSendQueue(),
                limits.getMaxReceiveQueue(),
                limits.getMaxSge(),
                limits.getMaxIrd(),
                limits.getMaxOrd(),
                limits.getMaxPrivateData(),
                limits.getMaxQueueOutstanding(),
                limits.getMaxProtectionDomains(),
                limits.getMaxCompletionEntries(),
                limits.getMaxReadRequests(),
                limits.getMaxReceives(),
                limits.getMaxSharedReceiveQueues());
    }

    static OpenSessionInfo session(SessionInfo session) {
        return new OpenSessionInfo(
                session.getName(),
                session.getUid(),
                session.getPid(),
                session.getRegions(),
                session.getConnections(),
                session.getListeners(),
                session.getRegisteredOctets(),
                session.getSharedReceiveQueues());
    }

    static ConnectionInfo connection(io.sidewarp.v1.Connection connection) {
        return new ConnectionInfo(
                connection.getId(),
                connection.getSessionName(),
                state(connection.getStateValue()),
                connection.getWaiting(),
                connection.hasError() ? Optional.of(error(connection.getError())) : Optional.empty(),
                connection.getInitiator(),
                connection.getLlp() == Llp.LLP_SCTP ? LowerLayerProtocol.SCTP : LowerLayerProtocol.TCP,
                connection.getLocalAddress(),
                connection.getLocalPort(),
                connection.getRemoteAddress(),
                connection.getRemotePort(),
                connection.getAssociation(),
                connection.getStream(),
                connection.getProtectionDomain(),
                connection.getSharedReceiveQueue(),
                connection.getMulpdu(),
                new ConnectionInfo.Agreement(
                        connection.getMpaRevision(),
                        connection.getProtocolVersion(),
                        connection.getPeerToPeer(),
                        connection.getCrc(),
                        connection.getReceiveMarkers(),
                        connection.getSendMarkers(),
                        connection.getIrd(),
                        connection.getOrd(),
                        optional(connection.hasPeerIrd(), connection.getPeerIrd()),
                        optional(connection.hasPeerOrd(), connection.getPeerOrd()),
                        Protos.ofNumber(SECURITIES, connection.getSecurityValue(), SecurityInUse.UNKNOWN),
                        optional(connection.getPeerIdentity())),
                counters(connection.getCounters()));
    }

    private static ConnectionInfo.Counters counters(ConnectionCounters counters) {
        return new ConnectionInfo.Counters(
                counters.getOctetsSent(),
                counters.getOctetsReceived(),
                counters.getWritesSent(),
                counters.getWritesReceived(),
                counters.getReadsSent(),
                counters.getReadsServed(),
                counters.getSendsSent(),
                counters.getSendsReceived(),
                counters.getSegmentsSent(),
                counters.getSegmentsReceived(),
                counters.getImmediatesSent(),
                counters.getImmediatesReceived(),
                counters.getAtomicsSent(),
                counters.getAtomicsServed());
    }

    static ConnectionEvent event(ConnectionStateChange change) {
        return new ConnectionEvent(
                change.getConnection(),
                state(change.getStateValue()),
                change.hasError() ? Optional.of(error(change.getError())) : Optional.empty(),
                change.getMessage());
    }

    private static Connection.State state(int number) {
        return Protos.ofNumber(CONNECTION_STATES, number, Connection.State.UNKNOWN);
    }

    static RdmaErrorInfo error(RdmaError error) {
        return new RdmaErrorInfo(
                error.getLayer(), error.getType(), error.getCode(), error.getName(), error.getRemote());
    }

    static AssociationInfo association(Association association) {
        return new AssociationInfo(
                association.getId(),
                association.getInitiator(),
                association.getLocalAddress(),
                association.getLocalPort(),
                association.getRemoteAddress(),
                association.getRemotePort(),
                association.getRemoteUdpPort(),
                association.getStreams(),
                association.getOccupiedStreams(),
                association.getChunksSent(),
                association.getChunksReceived(),
                association.getEarlyChunks(),
                association.getRetransmittedChunks(),
                association.getPendingChunks(),
                association.getUnacknowledgedChunks(),
                association.getPeerWindow(),
                association.getPathsList().stream().map(Descriptions::path).toList());
    }

    private static AssociationInfo.Path path(AssociationPath path) {
        return new AssociationInfo.Path(
                path.getAddress(),
                path.getPrimary(),
                path.getActive(),
                Protos.duration(path.getSmoothedRtt()),
                Protos.duration(path.getRto()),
                path.getCongestionWindow(),
                path.getPathMtu());
    }

    static RegionInfo region(Region region) {
        return new RegionInfo(
                region.getId(),
                region.getSessionName(),
                region.getStag(),
                region.getBaseTaggedOffset(),
                region.getLength(),
                known(Access.class, region.getAccessValueList()),
                region.getProtectionDomain(),
                region.getConnection(),
                region.getPeerIdentity(),
                region.getPath(),
                region.getFileExisted(),
                region.getProcessMemory(),
                Protos.ofNumber(REGION_STATES, region.getStateValue(), RegionInfo.State.UNKNOWN));
    }

    /** Returns a number of the contract that may be unset. */
    static OptionalInt optional(boolean set, int number) {
        return set ? OptionalInt.of(number) : OptionalInt.empty();
    }

    /** Returns a text of the contract that may be unset. */
    static Optional<String> optional(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    /** Returns the constants of the numbers, without those that only newer sidecars know. */
    private static <E extends Enum<E>> List<E> known(Class<E> type, List<Integer> numbers) {
        E[] constants = type.getEnumConstants();
        return numbers.stream()
                .filter(number -> number > 0 && number <= constants.length)
                .map(number -> constants[number - 1])
                .toList();
    }
}
