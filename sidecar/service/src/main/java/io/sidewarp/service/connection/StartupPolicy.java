// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.RtrKind;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.settings.AdvancedConfig;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.ReadyIndication;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Policy of MPA start-up: the caller's options within the administrator's limits, and defaults for unset options. */
final class StartupPolicy {

    private StartupPolicy() {}

    static MpaPolicy of(ConnectionOptions options, SidewarpConfig config) {
        SidewarpConfig.Connection common = config.connection();
        AdvancedConfig.Connection defaults = config.advanced().connection();
        MpaOptions mpa = options.getMpa();
        if (options.getMaxFpdu() < 0) {
            throw ApiError.invalid("options.max_fpdu", Integer.toUnsignedString(options.getMaxFpdu()), "0 to 2^31-1");
        }
        boolean peerToPeer = mpa.hasPeerToPeer() ? mpa.getPeerToPeer() : defaults.peerToPeer();
        Set<Integer> revisions = revisions(mpa.getRevisionsList(), common.mpaRevisions());
        return new MpaPolicy(
                crc(options, common),
                options.getReceiveMarkers() || defaults.receiveMarkers(),
                options.getMaxFpdu() == 0 ? defaults.maxFpdu() : options.getMaxFpdu(),
                revisions,
                requestRevision(mpa, revisions, peerToPeer, common.mpaRequestRevision()),
                peerToPeer,
                readyIndications(mpa, defaults.readyIndications()),
                readDepths(mpa, defaults.readDepths()));
    }

    /** Returns the options of a listener, replaced by those of an Accept where the Accept sets them. */
    static ConnectionOptions merge(ConnectionOptions listener, ConnectionOptions accept) {
        ConnectionOptions.Builder merged = listener.toBuilder();
        if (accept.getMpa().getRevisionsCount() > 0) {
            merged.getMpaBuilder().clearRevisions();
        }
        if (accept.getMpa().getReadyIndicationsCount() > 0) {
            merged.getMpaBuilder().clearReadyIndications();
        }
        if (accept.hasTimeout()) {
            // Without this, the merge would combine the nanoseconds of one value with the seconds of the other.
            merged.clearTimeout();
        }
        return merged.mergeFrom(accept).build();
    }

    /**
     * Returns the options with which a connection of CreateConnection accepts. They are its own options, completed by
     * the listener's options except for those that were fixed at its creation.
     */
    static ConnectionOptions complete(ConnectionOptions listener, ConnectionOptions created) {
        return merge(listener, created).toBuilder()
                .setProtectionDomain(created.getProtectionDomain())
                .setSendQueue(created.getSendQueue())
                .setReceiveQueue(created.getReceiveQueue())
                .setSharedReceiveQueue(created.getSharedReceiveQueue())
                .build();
    }

    /** Returns equal options that use the least memory, for keeping. */
    static ConnectionOptions withoutRepetitions(ConnectionOptions options) {
        ConnectionOptions.Builder kept = options.toBuilder();
        if (options.hasMpa()) {
            kept.getMpaBuilder()
                    .clearRevisions()
                    .addAllRevisions(new TreeSet<>(options.getMpa().getRevisionsList()));
        }
        return kept.build();
    }

    private static CrcPolicy crc(ConnectionOptions options, SidewarpConfig.Connection defaults) {
        return switch (options.getCrc()) {
            case CRC_PREFERENCE_UNSPECIFIED -> defaults.crc();
            case CRC_PREFERENCE_ON -> defaults.crc() == CrcPolicy.REQUIRED ? CrcPolicy.REQUIRED : CrcPolicy.PREFERRED;
            case CRC_PREFERENCE_REQUIRED -> CrcPolicy.REQUIRED;
            case CRC_PREFERENCE_OFF -> {
                if (!defaults.allowCrcOff() && defaults.crc() != CrcPolicy.REFUSED) {
                    throw ApiError.of(
                            Status.Code.PERMISSION_DENIED,
                            "connections without CRCs are not allowed here (setting sidewarp.connection.allow-crc-off);"
                                    + " leave options.crc unset");
                }
                yield CrcPolicy.REFUSED;
            }
            case UNRECOGNIZED ->
                throw ApiError.invalid(
                        "options.crc",
                        options.getCrcValue(),
                        "CRC_PREFERENCE_ON, CRC_PREFERENCE_OFF, CRC_PREFERENCE_REQUIRED");
        };
    }

    private static Set<Integer> revisions(List<Integer> asked, Set<Integer> permitted) {
        if (asked.isEmpty()) {
            return permitted;
        }
        // Rejects the first invalid revision, so that a long invalid list is not stored.
        Set<Integer> revisions = new TreeSet<>();
        for (int revision : asked) {
            if (!MpaPolicy.SUPPORTED_REVISIONS.contains(revision)) {
                throw noRevisions(Integer.toUnsignedString(revision));
            }
            revisions.add(revision);
        }
        if (!revisions.contains(1) && !revisions.contains(2)) {
            throw noRevisions("0");
        }
        if (!permitted.containsAll(revisions)) {
            throw ApiError.of(
                    Status.Code.PERMISSION_DENIED,
                    "options.mpa.revisions is " + revisions + "; allowed here: " + new TreeSet<>(permitted)
                            + " (setting sidewarp.connection.mpa-revisions)");
        }
        return revisions;
    }

    private static StatusRuntimeException noRevisions(String revision) {
        return ApiError.invalid("options.mpa.revisions", "[" + revision + "]", "0, 1 and 2, and 1 or 2 among them");
    }

    private static int requestRevision(MpaOptions mpa, Set<Integer> revisions, boolean peerToPeer, int byDefault) {
        int revision = mpa.getRequestRevision();
        if (revision == 0) {
            int wanted = peerToPeer ? 2 : byDefault;
            revision = revisions.contains(wanted) ? wanted : Collections.max(revisions);
        }
        if (revision != 1 && revision != 2 || !revisions.contains(revision)) {
            throw ApiError.invalid(
                    "options.mpa.request_revision",
                    Integer.toUnsignedString(revision),
                    "1 or 2, and one of options.mpa.revisions: " + new TreeSet<>(revisions));
        }
        if (peerToPeer && revision != 2) {
            throw ApiError.invalid("options.mpa.peer_to_peer", true, "true with options.mpa.request_revision 2");
        }
        return revision;
    }

    private static List<RtrKind> readyIndications(MpaOptions mpa, List<RtrKind> byDefault) {
        if (mpa.getReadyIndicationsCount() == 0) {
            return byDefault;
        }
        Set<RtrKind> kinds = new LinkedHashSet<>();
        for (int i = 0; i < mpa.getReadyIndicationsCount(); i++) {
            if (!kinds.add(rtr(mpa.getReadyIndications(i), mpa.getReadyIndicationsValue(i)))) {
                throw ApiError.invalid(
                        "options.mpa.ready_indications",
                        mpa.getReadyIndicationsList().subList(0, i + 1),
                        "each kind once");
            }
        }
        return List.copyOf(kinds);
    }

    private static RtrKind rtr(ReadyIndication kind, int value) {
        return switch (kind) {
            case READY_INDICATION_WRITE -> RtrKind.WRITE;
            case READY_INDICATION_READ -> RtrKind.READ;
            case READY_INDICATION_SEND -> RtrKind.SEND;
            case READY_INDICATION_UNSPECIFIED, UNRECOGNIZED ->
                throw ApiError.invalid(
                        "options.mpa.ready_indications",
                        value,
                        "READY_INDICATION_WRITE, READY_INDICATION_READ, READY_INDICATION_SEND");
        };
    }

    private static DepthNegotiation readDepths(MpaOptions mpa, DepthNegotiation byDefault) {
        return switch (mpa.getReadDepths()) {
            case READ_DEPTH_NEGOTIATION_UNSPECIFIED -> byDefault;
            case READ_DEPTH_NEGOTIATION_ENHANCED -> DepthNegotiation.ENHANCED;
            case READ_DEPTH_NEGOTIATION_PRIVATE_DATA -> DepthNegotiation.PRIVATE_DATA;
            case READ_DEPTH_NEGOTIATION_NONE -> DepthNegotiation.NONE;
            case UNRECOGNIZED ->
                throw ApiError.invalid(
                        "options.mpa.read_depths",
                        mpa.getReadDepthsValue(),
                        "READ_DEPTH_NEGOTIATION_ENHANCED, READ_DEPTH_NEGOTIATION_PRIVATE_DATA,"
                                + " READ_DEPTH_NEGOTIATION_NONE");
        };
    }
}
