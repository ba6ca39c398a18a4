// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RtrKind;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of the start of a DDP stream session, as one side sees it.
 *
 * @param enhanced whether the messages were the enhanced messages (RFC 6581 section 7)
 * @param privateData Private Data of the peer for the Consumer
 * @param local depths and connection model that this side sent, or null if it sent none
 * @param peer depths and connection model that the peer sent, or null if it sent none
 * @param ird inbound RDMA Read Requests that this side must serve
 * @param ord outbound RDMA Read Requests that this side may use
 * @param rtr kind of message that the active side must send first, or null
 * @param error reason why the active side must end the session with an RDMAP Terminate (RFC 6581 section 9), or null
 */
public record SessionStartup(
        boolean enhanced,
        byte[] privateData,
        @Nullable EnhancedData local,
        @Nullable EnhancedData peer,
        int ird,
        int ord,
        @Nullable RtrKind rtr,
        @Nullable LlpError error) {

    /** Returns the state before the answer to an Initiate, without depths of this side. */
    static SessionStartup asked(ControlMessage initiate) {
        return of(initiate, null, new Negotiation.Outcome(0, 0, null, null));
    }

    static SessionStartup of(ControlMessage message, @Nullable EnhancedData local, Negotiation.Outcome outcome) {
        return new SessionStartup(
                message.code().isEnhanced(),
                message.privateData(),
                local,
                message.data(),
                outcome.ird(),
                outcome.ord(),
                outcome.rtr(),
                outcome.error());
    }

    /** Bytes of Private Data that fit into the answer for the Consumer. */
    public int replyRoom() {
        return SessionOptions.room(enhanced);
    }

    /** Returns whether both sides want the peer-to-peer model. */
    public boolean peerToPeer() {
        return local != null && local.peerToPeer() && peer != null && peer.peerToPeer();
    }

    /** Returns whether the active side's first message may be a zero-length Send that is only an indication. */
    public boolean rtrBySend() {
        return local != null && local.rtrSend() && peer != null && peer.peerToPeer();
    }
}
