// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import java.util.Set;

/**
 * What an endpoint wants of an MPA connection, whichever role it has. Start from {@link #defaults} and change what
 * differs.
 *
 * @param crc C bit declared: this side needs CRCs. Only the administrator may clear it (RFC 5044 section 4.4)
 * @param receiveMarkers M bit declared: the peer has to insert Markers (section 4.3)
 * @param privateData for the peer's Consumer, 0 to 512 octets; not copied
 * @param maxPrivateData octets of Private Data that this side can take, 0 to 512; a peer's frame with more is invalid
 *     (section 7.1.2 rule 9)
 * @param maxFpdu largest FPDU to send in octets, Markers included, 0 for no cap but the EMSS
 * @param revision Rev of the frames that this side sends first
 * @param acceptedRevisions Rev values of a peer's frame that this side can work with
 * @param enhanced IRD, ORD and connection model: sent with revision 2, and what a Responder answers an enhanced Request
 *     from (RFC 6581)
 * @param closeOnReject whether TCP is closed after a Reply with R=1, sent or received, or left to the Consumer
 *     (section 7.1.2 rules 2 and 3)
 */
public record MpaOptions(
        boolean crc,
        boolean receiveMarkers,
        byte[] privateData,
        int maxPrivateData,
        int maxFpdu,
        int revision,
        Set<Integer> acceptedRevisions,
        EnhancedData enhanced,
        boolean closeOnReject) {

    /** MPA revisions that exist here. */
    public static final Set<Integer> SUPPORTED_REVISIONS = Set.of(1, 2);

    /** Private Data that a start-up frame may hold, in octets (RFC 5044 section 7.1.1). */
    public static final int MAX_PRIVATE_DATA = MpaFrameFlyweight.MAX_PD_LENGTH;

    private static final MpaOptions DEFAULTS = new MpaOptions(
            true,
            false,
            new byte[0],
            MAX_PRIVATE_DATA,
            0,
            1,
            SUPPORTED_REVISIONS,
            EnhancedData.clientServer(EnhancedData.NOT_NEGOTIATED, EnhancedData.NOT_NEGOTIATED),
            true);

    public MpaOptions {
        if (privateData.length > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "Private Data of " + privateData.length + " octets; MPA carries at most " + MAX_PRIVATE_DATA);
        }
        if (maxPrivateData < 0 || maxPrivateData > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "maxPrivateData " + maxPrivateData + " is not in 0.." + MAX_PRIVATE_DATA);
        }
        if (maxFpdu < 0) {
            throw new IllegalArgumentException("maxFpdu " + maxFpdu + " is negative");
        }
        acceptedRevisions = Set.copyOf(acceptedRevisions);
        if (!SUPPORTED_REVISIONS.contains(revision) || !SUPPORTED_REVISIONS.containsAll(acceptedRevisions)) {
            throw new IllegalArgumentException("MPA revision " + revision + " (accepting " + acceptedRevisions
                    + "); supported are " + SUPPORTED_REVISIONS);
        }
    }

    /**
     * CRC on, no Markers, no Private Data, up to 512 octets of it taken, no cap on FPDUs, revision 1 sent, 1 and 2
     * taken.
     */
    public static MpaOptions defaults() {
        return DEFAULTS;
    }

    public MpaOptions withCrc(boolean newCrc) {
        return new MpaOptions(
                newCrc,
                receiveMarkers,
                privateData,
                maxPrivateData,
                maxFpdu,
                revision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }

    public MpaOptions withReceiveMarkers(boolean markers) {
        return new MpaOptions(
                crc,
                markers,
                privateData,
                maxPrivateData,
                maxFpdu,
                revision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }

    public MpaOptions withPrivateData(byte[] data) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                data,
                maxPrivateData,
                maxFpdu,
                revision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }

    public MpaOptions withMaxPrivateData(int octets) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                privateData,
                octets,
                maxFpdu,
                revision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }

    public MpaOptions withMaxFpdu(int octets) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                privateData,
                maxPrivateData,
                octets,
                revision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }

    public MpaOptions withCloseOnReject(boolean close) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                privateData,
                maxPrivateData,
                maxFpdu,
                revision,
                acceptedRevisions,
                enhanced,
                close);
    }

    /** Revision 2 frames of this side say this. */
    public MpaOptions withEnhanced(EnhancedData data) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                privateData,
                maxPrivateData,
                maxFpdu,
                revision,
                acceptedRevisions,
                data,
                closeOnReject);
    }

    public MpaOptions withRevision(int newRevision) {
        return new MpaOptions(
                crc,
                receiveMarkers,
                privateData,
                maxPrivateData,
                maxFpdu,
                newRevision,
                acceptedRevisions,
                enhanced,
                closeOnReject);
    }
}
