// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.verbs.DepthNegotiation;
import org.jspecify.annotations.Nullable;

/**
 * A complete start-up frame of the peer.
 *
 * @param crc C flag, always set with an RDMAC peer (RFC 5044 C.1)
 * @param markers M flag, always set with an RDMAC peer
 * @param rejected R flag
 * @param form form of the depths in the Private Data
 * @param data depths and connection model, or null if the peer sent none
 * @param privateData Private Data that is left for the Consumer
 */
record PeerFrame(
        int revision,
        boolean crc,
        boolean markers,
        boolean rejected,
        DepthForm form,
        @Nullable EnhancedData data,
        byte[] privateData) {

    /** Rev of an RDMAC peer, which uses version 0 of DDP and RDMAP and always needs Markers and CRCs. */
    static final int RDMAC_REVISION = 0;

    static PeerFrame of(MpaFrameFlyweight frame, DepthNegotiation depths) {
        boolean rdmac = frame.rev() == RDMAC_REVISION;
        DepthForm form = frame.isEnhanced() ? DepthForm.ENHANCED : DepthForm.unenhanced(depths);
        if (frame.pdLength() < form.length()) {
            // The peer does not know depths in the Private Data.
            form = DepthForm.NONE;
        }
        return new PeerFrame(
                frame.rev(),
                rdmac || frame.c(),
                rdmac || frame.m(),
                frame.r(),
                form,
                form.read(frame),
                frame.privateData(form.length()));
    }

    boolean isRdmac() {
        return revision == RDMAC_REVISION;
    }

    boolean isEnhanced() {
        return form == DepthForm.ENHANCED;
    }
}
