// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.verbs.DepthNegotiation;
import org.jspecify.annotations.Nullable;

/** Form of IRD and ORD in a start-up frame. IRD and ORD stand before the Private Data of the Consumer. */
enum DepthForm {
    /** The frame has no IRD and ORD. */
    NONE(0),
    /** S=1 and {@link EnhancedData} (RFC 6581 section 9). */
    ENHANCED(EnhancedData.LENGTH),
    /** Two words of 32 bits without any flag; see {@link DepthNegotiation#PRIVATE_DATA}. */
    LEGACY(8);

    private static final int LEGACY_ORD_OFFSET = 4;

    private final int length;

    DepthForm(int length) {
        this.length = length;
    }

    /** Returns the form in a frame with S=0. */
    static DepthForm unenhanced(DepthNegotiation depths) {
        return depths == DepthNegotiation.PRIVATE_DATA ? LEGACY : NONE;
    }

    /** Returns the form in a Request. */
    static DepthForm ofRequest(int revision, DepthNegotiation depths) {
        return revision >= 2 ? ENHANCED : unenhanced(depths);
    }

    /** Bytes that the form takes. */
    int length() {
        return length;
    }

    /** Bytes of Private Data that are left for the Consumer. */
    int room() {
        return MpaFrameFlyweight.MAX_PD_LENGTH - length;
    }

    @Nullable
    EnhancedData read(MpaFrameFlyweight frame) {
        return switch (this) {
            case NONE -> null;
            case ENHANCED -> EnhancedData.decode(frame.privateDataWord(0));
            case LEGACY ->
                EnhancedData.clientServer(
                        depth(frame.privateDataWord(0)), depth(frame.privateDataWord(LEGACY_ORD_OFFSET)));
        };
    }

    private static int depth(int word) {
        return Integer.compareUnsigned(word, MpaOptions.MAX_DEPTH) > 0 ? MpaOptions.MAX_DEPTH : word;
    }

    void write(MpaFrameFlyweight frame, @Nullable EnhancedData data) {
        if (data == null || this == NONE) {
            return;
        }
        if (this == ENHANCED) {
            frame.s(true).privateDataWord(0, data.encode());
        } else {
            frame.privateDataWord(0, data.ird()).privateDataWord(LEGACY_ORD_OFFSET, data.ord());
        }
    }
}
