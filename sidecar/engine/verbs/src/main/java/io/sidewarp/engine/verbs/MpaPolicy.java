// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.List;
import java.util.Set;

/**
 * Policy of one side, in either role, for MPA start-up. Start from {@link #defaults} and change what differs.
 *
 * @param receiveMarkers M bit to declare: the peer must insert Markers (RFC 5044 section 4.3)
 * @param maxFpdu largest FPDU to send in bytes, including Markers; 0 for no cap except the EMSS
 * @param revisions Rev values that this side accepts from a peer. 0 is an RDMAC peer, served as a permissive endpoint
 *     does (RFC 5044 Appendix C). 1 is RFC 5044, and 2 is RFC 6581
 * @param requestRevision Rev of this side's Request, 1 or 2, from {@code revisions}. A peer that does not know revision
 *     2 may be asked again with revision 1, if {@code revisions} contains 1 (RFC 6581 section 10)
 * @param peerToPeer whether a Request of revision 2 asks for the peer-to-peer model, in which the Responder may send
 *     first
 * @param rtr kinds of ready-to-receive indication that this side can send and take, the preferred kind first
 * @param depths form of the negotiation of IRD and ORD
 */
public record MpaPolicy(
        CrcPolicy crc,
        boolean receiveMarkers,
        int maxFpdu,
        Set<Integer> revisions,
        int requestRevision,
        boolean peerToPeer,
        List<RtrKind> rtr,
        DepthNegotiation depths) {

    /** MPA revisions that this implementation supports. */
    public static final Set<Integer> SUPPORTED_REVISIONS = Set.of(0, 1, 2);

    private static final MpaPolicy DEFAULTS = new MpaPolicy(
            CrcPolicy.PREFERRED,
            false,
            0,
            SUPPORTED_REVISIONS,
            1,
            false,
            List.of(RtrKind.WRITE, RtrKind.READ, RtrKind.SEND),
            DepthNegotiation.ENHANCED);

    public MpaPolicy {
        revisions = Set.copyOf(revisions);
        rtr = List.copyOf(rtr);
        if (maxFpdu < 0) {
            throw new IllegalArgumentException("maxFpdu " + maxFpdu + " is negative");
        }
        if (!SUPPORTED_REVISIONS.containsAll(revisions)) {
            throw new IllegalArgumentException("MPA revisions " + revisions + "; supported are " + SUPPORTED_REVISIONS);
        }
        if (requestRevision < 1 || !revisions.contains(requestRevision)) {
            throw new IllegalArgumentException("a Request of MPA revision " + requestRevision
                    + "; it has to be 1 or 2, and one of the revisions that are accepted: " + revisions);
        }
        if (rtr.isEmpty() || Set.copyOf(rtr).size() < rtr.size()) {
            throw new IllegalArgumentException(
                    "ready-to-receive indications " + rtr + "; name at least one, each once");
        }
    }

    /**
     * Returns the default policy: CRC preferred, no Markers, no cap on FPDUs, all revisions accepted. Requests use
     * revision 1 and the client-server model. All kinds of ready-to-receive indication are possible, and depths are
     * negotiated in enhanced data.
     */
    public static MpaPolicy defaults() {
        return DEFAULTS;
    }

    public MpaPolicy withCrc(CrcPolicy newCrc) {
        return new MpaPolicy(newCrc, receiveMarkers, maxFpdu, revisions, requestRevision, peerToPeer, rtr, depths);
    }

    public MpaPolicy withReceiveMarkers(boolean markers) {
        return new MpaPolicy(crc, markers, maxFpdu, revisions, requestRevision, peerToPeer, rtr, depths);
    }

    public MpaPolicy withMaxFpdu(int octets) {
        return new MpaPolicy(crc, receiveMarkers, octets, revisions, requestRevision, peerToPeer, rtr, depths);
    }

    /** Returns a copy with other accepted revisions and the revision of this side's Request, which is one of them. */
    public MpaPolicy withRevisions(Set<Integer> accepted, int request) {
        return new MpaPolicy(crc, receiveMarkers, maxFpdu, accepted, request, peerToPeer, rtr, depths);
    }

    public MpaPolicy withRequestRevision(int revision) {
        return withRevisions(revisions, revision);
    }

    public MpaPolicy withPeerToPeer(boolean wanted) {
        return new MpaPolicy(crc, receiveMarkers, maxFpdu, revisions, requestRevision, wanted, rtr, depths);
    }

    public MpaPolicy withRtr(List<RtrKind> kinds) {
        return new MpaPolicy(crc, receiveMarkers, maxFpdu, revisions, requestRevision, peerToPeer, kinds, depths);
    }

    public MpaPolicy withRtr(RtrKind... kinds) {
        return withRtr(List.of(kinds));
    }

    public MpaPolicy withDepths(DepthNegotiation negotiation) {
        return new MpaPolicy(crc, receiveMarkers, maxFpdu, revisions, requestRevision, peerToPeer, rtr, negotiation);
    }
}
