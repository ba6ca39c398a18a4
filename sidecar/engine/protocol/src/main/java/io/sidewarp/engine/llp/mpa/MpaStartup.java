// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RtrKind;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of MPA start-up as one side sees it (RFC 5044 section 7.1).
 *
 * @param revision MPA revision in use, which is the Rev of the peer's frame
 * @param privateData Private Data of the peer, 0 to 512 bytes
 * @param peerCrc C of the peer's frame, always set with an RDMAC peer
 * @param peerMarkers M of the peer's frame, always set with an RDMAC peer
 * @param crc whether CRCs are generated and checked, because either side declared C=1 (section 7.1.1)
 * @param sendMarkers whether this side inserts Markers, because the peer declared M=1
 * @param receiveMarkers whether the peer inserts Markers, because this side declared M=1
 * @param local depths and connection model that this side sent, or null if it sent none (RFC 6581)
 * @param peer depths and connection model that the peer sent, or null if it sent none
 * @param ird inbound RDMA Read Requests that this side must serve
 * @param ord outbound RDMA Read Requests that this side may use
 * @param rtr kind of message that the Initiator must send first, or null
 * @param replyRoom bytes of Private Data that fit into the Reply, fewer than 512 where MPA itself needs bytes
 * @param error reason why the Initiator must end the connection with a Terminate instead (RFC 6581 section 9), or null
 */
public record MpaStartup(
        int revision,
        byte[] privateData,
        boolean peerCrc,
        boolean peerMarkers,
        boolean crc,
        boolean sendMarkers,
        boolean receiveMarkers,
        @Nullable EnhancedData local,
        @Nullable EnhancedData peer,
        int ird,
        int ord,
        @Nullable RtrKind rtr,
        int replyRoom,
        @Nullable LlpError error) {

    /** Returns the state before the answer to a Request, as if the answer contained no depths. */
    static MpaStartup asked(MpaOptions own, PeerFrame request) {
        return of(own, request, null, Negotiation.unnegotiated(own.terms()));
    }

    /** Returns the outcome for the Responder after its answer. */
    static MpaStartup accepted(MpaOptions own, PeerFrame request, @Nullable EnhancedData answer) {
        EnhancedData asked = request.data();
        return of(
                own,
                request,
                answer,
                asked == null || answer == null
                        ? Negotiation.unnegotiated(own.terms())
                        : Negotiation.ofResponder(own.terms(), asked, answer));
    }

    /**
     * Returns the outcome for the Initiator after the answer.
     *
     * @param refused whether this side's policy refuses the answer
     */
    static MpaStartup answered(MpaOptions own, @Nullable EnhancedData asked, PeerFrame reply, boolean refused) {
        EnhancedData answer = reply.data();
        Negotiation.Outcome outcome = asked == null || answer == null
                ? Negotiation.unnegotiated(own.terms())
                : Negotiation.ofInitiator(own.terms(), asked, answer);
        return of(own, reply, asked, refused ? outcome.refused() : outcome);
    }

    private static MpaStartup of(
            MpaOptions own, PeerFrame frame, @Nullable EnhancedData local, Negotiation.Outcome outcome) {
        return new MpaStartup(
                frame.revision(),
                frame.privateData(),
                frame.crc(),
                frame.markers(),
                own.policy().crc().declared() || frame.crc(),
                frame.markers(),
                own.policy().receiveMarkers() || frame.isRdmac(),
                local,
                frame.data(),
                outcome.ird(),
                outcome.ord(),
                outcome.rtr(),
                frame.form().room(),
                outcome.error());
    }

    /** Returns whether both sides want the peer-to-peer model. */
    public boolean peerToPeer() {
        return local != null && local.peerToPeer() && peer != null && peer.peerToPeer();
    }

    /** Returns whether the Initiator's first message may be a zero-length Send that is only an indication. */
    public boolean rtrBySend() {
        return local != null && local.rtrSend() && peer != null && peer.peerToPeer();
    }

    /** Version for the fields DV of DDP and RV of RDMAP: 1 of the IETF, or 0 of an RDMAC peer (RFC 5044 C.1). */
    public int protocolVersion() {
        return revision == PeerFrame.RDMAC_REVISION ? 0 : 1;
    }
}
