// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.RtrKind;
import java.util.List;
import java.util.Set;

/**
 * What one side permits and wants in MPA start-up, whichever role it has. Start from {@link #defaults} and change what
 * differs.
 *
 * @param receiveMarkers M bit declared: the peer has to insert Markers (RFC 5044 section 4.3)
 * @param maxFpdu largest FPDU to send in bytes, Markers included, 0 for no cap but the EMSS
 * @param revisions Rev of a peer's frame that this side works with: 0 is an RDMAC peer, served as a permissive endpoint
 *     does (RFC 5044 Appendix C), 1 is RFC 5044, 2 is RFC 6581
 * @param requestRevision Rev of this side's Request, 1 or 2, among {@code revisions}. After 2, a peer that does not know
 *     it may be asked again with 1 if {@code revisions} holds 1 (RFC 6581 section 10)
 * @param peerToPeer a Request of revision 2 asks for the peer-to-peer model, in which the Responder may send first
 * @param rtr kinds of ready-to-receive indication that this side can send and take, the one it likes best first
 * @param depths how IRD and ORD are negotiated
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

    /** MPA revisions that exist here. */
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
     * CRC preferred, no Markers, no cap on FPDUs, all revisions taken and 1 asked with, client-server model, all kinds of
     * ready-to-receive indication, depths in enhanced data.
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

    /** The revisions that are accepted, and the one among them that this side asks with. */
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
