// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

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
 */
public record MpaStartup(
        int revision,
        byte[] privateData,
        boolean peerCrc,
        boolean peerMarkers,
        boolean crc,
        boolean sendMarkers,
        boolean receiveMarkers) {

    static MpaStartup agree(MpaOptions own, int revision, boolean peerCrc, boolean peerMarkers, byte[] privateData) {
        return new MpaStartup(
                revision, privateData, peerCrc, peerMarkers, own.crc() || peerCrc, peerMarkers, own.receiveMarkers());
    }

    /** Version that DDP writes into DV and RDMAP into RV: that of the IETF (RFC 5044 C.1). */
    public int protocolVersion() {
        return 1;
    }
}
