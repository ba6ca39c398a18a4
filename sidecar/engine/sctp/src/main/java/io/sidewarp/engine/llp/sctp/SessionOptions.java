// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;

/**
 * Options of an endpoint, in either role, for one DDP stream session.
 *
 * @param privateData data for the peer's Consumer; not copied
 * @param enhanced whether the active side uses the enhanced messages, which negotiate IRD, ORD and the connection model
 *     (RFC 6581 section 7). The passive side answers in the same form
 * @param terms terms to negotiate, which apply unchanged without negotiation
 */
public record SessionOptions(byte[] privateData, boolean enhanced, Negotiation.Terms terms) {

    public SessionOptions {
        if (privateData.length > room(enhanced)) {
            throw new IllegalArgumentException("Private Data of " + privateData.length + " bytes; at most "
                    + room(enhanced) + " fit into " + (enhanced ? "an enhanced" : "a") + " session control message");
        }
    }

    /** Bytes of Private Data that fit into a message for the Consumer (RFC 5043 section 5.2.3, RFC 6581 section 7). */
    public static int room(boolean enhanced) {
        return ChunkFlyweight.MAX_PRIVATE_DATA - (enhanced ? EnhancedData.LENGTH : 0);
    }
}
