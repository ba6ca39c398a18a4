// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import org.jspecify.annotations.Nullable;

/**
 * What the two sides tell each other at the start of a session, and what comes out of it for this one (RFC 5043 section
 * 6, RFC 6581 sections 7 and 9).
 */
final class SessionOpening {

    private @Nullable SessionOptions options;
    private @Nullable ControlMessage asked;
    private @Nullable EnhancedData told;

    /** Active side: the Initiate. */
    ControlMessage initiate(SessionOptions wanted) {
        options = wanted;
        told = wanted.enhanced() ? Negotiation.request(wanted.terms()) : null;
        return new ControlMessage(
                wanted.enhanced() ? FunctionCode.ENHANCED_INITIATE : FunctionCode.INITIATE, told, wanted.privateData());
    }

    /** Whether the Initiate was an Enhanced one. */
    boolean isEnhanced() {
        return told != null;
    }

    /** Active side: what an Accept leads to. */
    SessionStartup accepted(ControlMessage accept) {
        EnhancedData request = told;
        EnhancedData answer = accept.data();
        return SessionStartup.of(
                accept,
                request,
                request == null || answer == null
                        ? Negotiation.unnegotiated(terms())
                        : Negotiation.ofInitiator(terms(), request, answer));
    }

    /** Active side: what a Reject tells. */
    SessionStartup rejected(ControlMessage reject) {
        return SessionStartup.of(reject, told, Negotiation.unnegotiated(terms()));
    }

    /** Passive side: the Initiate to answer. */
    void onInitiate(ControlMessage initiate) {
        asked = initiate;
    }

    /** Passive side: the Initiate needs no answer any more. */
    void forgetInitiate() {
        asked = null;
    }

    /** Passive side: the Accept. */
    ControlMessage accept(SessionOptions chosen) {
        EnhancedData data = dataToAnswer(chosen);
        told = data == null ? null : Negotiation.accept(data, chosen.terms());
        options = chosen;
        return new ControlMessage(
                data == null ? FunctionCode.ACCEPT : FunctionCode.ENHANCED_ACCEPT, told, chosen.privateData());
    }

    /** Passive side: the Reject. */
    ControlMessage reject(SessionOptions chosen) {
        EnhancedData data = dataToAnswer(chosen);
        return new ControlMessage(
                data == null ? FunctionCode.REJECT : FunctionCode.ENHANCED_REJECT,
                data == null ? null : Negotiation.reject(data, chosen.terms()),
                chosen.privateData());
    }

    private @Nullable EnhancedData dataToAnswer(SessionOptions chosen) {
        ControlMessage initiate = request();
        int room = SessionOptions.room(initiate.code().isEnhanced());
        if (chosen.privateData().length > room) {
            throw new IllegalArgumentException("Private Data of " + chosen.privateData().length + " octets; at most "
                    + room + " fit into the answer to an " + initiate.code());
        }
        return initiate.data();
    }

    /** Passive side: what its Accept leads to. */
    SessionStartup agreed() {
        ControlMessage initiate = request();
        EnhancedData data = initiate.data();
        EnhancedData answer = told;
        return SessionStartup.of(
                initiate,
                answer,
                data == null || answer == null
                        ? Negotiation.unnegotiated(terms())
                        : Negotiation.ofResponder(terms(), data, answer));
    }

    private ControlMessage request() {
        ControlMessage initiate = asked;
        if (initiate == null) {
            throw new IllegalStateException("no Initiate has come");
        }
        return initiate;
    }

    private Negotiation.Terms terms() {
        SessionOptions own = options;
        if (own == null) {
            throw new IllegalStateException("the session has no options");
        }
        return own.terms();
    }
}
