// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import org.jspecify.annotations.Nullable;

/**
 * Outcome of MPA start-up as one side sees it (RFC 5044 section 7.1).
 *
 * @param revision MPA revision in use: Rev of the peer's frame
 * @param privateData that the peer sent, 0 to 512 octets
 * @param peerCrc C of the peer's frame
 * @param peerMarkers M of the peer's frame
 * @param crc whether CRCs are generated and checked: either side declared C=1 (section 7.1.1)
 * @param sendMarkers whether this side inserts Markers: the peer declared M=1
 * @param receiveMarkers whether the peer inserts Markers: this side declared M=1
 * @param local enhanced data of this side's frame, or null if it had none (RFC 6581)
 * @param peer enhanced data of the peer's frame, or null if it had none
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
        @Nullable EnhancedData peer) {

    static MpaStartup agree(MpaOptions own, MpaFrameFlyweight frame) {
        boolean enhanced = frame.isEnhanced();
        return new MpaStartup(
                frame.rev(),
                enhanced ? frame.ulpPrivateData() : frame.privateData(),
                frame.c(),
                frame.m(),
                own.crc() || frame.c(),
                frame.m(),
                own.receiveMarkers(),
                null,
                enhanced ? EnhancedData.decode(frame.enhancedData()) : null);
    }

    /** The same agreement with the options and enhanced data of this side's own frame. */
    MpaStartup with(MpaOptions own, @Nullable EnhancedData answer) {
        return new MpaStartup(
                revision,
                privateData,
                peerCrc,
                peerMarkers,
                own.crc() || peerCrc,
                sendMarkers,
                own.receiveMarkers(),
                answer,
                peer);
    }

    /** Inbound RDMA Read Requests that this side has to serve: what it wanted, or more if it said so. */
    public int ird(int wanted) {
        return local == null || local.ird() == EnhancedData.NOT_NEGOTIATED ? wanted : Math.max(wanted, local.ird());
    }

    /** Outbound RDMA Read Requests that this side may use: what it wanted, or fewer if the peer serves fewer. */
    public int ord(int wanted) {
        return peer == null ? wanted : peer.limitOrd(wanted);
    }

    /** Version that DDP writes into DV and RDMAP into RV: that of the IETF (RFC 5044 C.1). */
    public int protocolVersion() {
        return 1;
    }
}
