// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.DdpHeaderFlyweight;
import io.sidewarp.engine.ddp.DdpSender;

/**
 * Bounds the message that is arriving with a tagged opcode, or on a queue number: a peer may mix their segments. One that
 * never ends, or comes in crumbs, keeps this side busy without getting anywhere. A message has fewer than 2^32 bytes
 * (RFC 5041 section 5.2), however often it covers the same ones, and few short segments in front of its last one: whoever
 * fills segments up to a MULPDU of 128 bytes, the smallest that there is (RFC 5044 section 3), sends none.
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

    /** Counts a segment; false when the message is beyond a limit with it. */
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
