// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.DdpSender;

/**
 * Limits an arriving message: one instance for each tagged opcode and each queue number, because a peer may mix their
 * segments. A message without an end, or in tiny segments, keeps this side busy without progress. A message has fewer
 * than 2^32 bytes (RFC 5041 section 5.2), and repeated bytes count again. A message has few short segments before its
 * last segment. A peer that fills segments up to the smallest MULPDU of 128 bytes (RFC 5044 section 3) sends no short
 * segments.
 */
final class InboundLimits {

    /** Bytes of payload below which a segment is short. */
    static final int SHORT = 64;

    private final int maxShortSegments;
    private int shortSegments;
    private long octets;

    InboundLimits(int maxShortSegments) {
        this.maxShortSegments = maxShortSegments;
    }

    /** Counts a segment. Returns false when the message exceeds a limit. */
    boolean admit(DdpHeaderFlyweight header, int payload) {
        octets += payload;
        boolean last = header.last();
        if (!last && payload < SHORT) {
            shortSegments++;
        }
        boolean within = octets <= DdpSender.MAX_MESSAGE_LENGTH && shortSegments <= maxShortSegments;
        if (last) {
            octets = 0;
            shortSegments = 0;
        }
        return within;
    }
}
