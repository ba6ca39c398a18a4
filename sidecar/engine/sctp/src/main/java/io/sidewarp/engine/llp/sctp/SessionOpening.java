// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import org.jspecify.annotations.Nullable;

/**
 * Start messages of a session, and the values that result from them for this side (RFC 5043 section 6, RFC 6581
 * sections 7 and 9).
 */
final class SessionOpening {

    private @Nullable SessionOptions options;
    private @Nullable ControlMessage asked;
    private @Nullable EnhancedData told;

    /** Active side: creates the Initiate. */
    ControlMessage initiate(SessionOptions wanted) {
        options = wanted;
        told = wanted.enhanced() ? Negotiation.request(wanted.terms()) : null;
        return new ControlMessage(
                wanted.enhanced() ? FunctionCode.ENHANCED_INITIATE : FunctionCode.INITIATE, told, wanted.privateData());
    }

    /** Returns whether the Initiate was an Enhanced Initiate. */
    boolean isEnhanced() {
        return told != null;
    }

    /** Active side: returns the outcome of an Accept. */
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

    /** Active side: returns the outcome of a Reject. */
    SessionStartup rejected(ControlMessage reject) {
        return SessionStartup.of(reject, told, Negotiation.unnegotiated(terms()));
    }

    /** Passive side: stores the Initiate to answer. */
    void onInitiate(ControlMessage initiate) {
        asked = initiate;
    }

    /** Passive side: drops the Initiate, which needs no answer any more. */
    void forgetInitiate() {
        asked = null;
    }

    /** Passive side: creates the Accept. */
    ControlMessage accept(SessionOptions chosen) {
        EnhancedData data = dataToAnswer(chosen);
        told = data == null ? null : Negotiation.accept(data, chosen.terms());
        options = chosen;
        return new ControlMessage(
                data == null ? FunctionCode.ACCEPT : FunctionCode.ENHANCED_ACCEPT, told, chosen.privateData());
    }

    /** Passive side: creates the Reject. */
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
            throw new IllegalArgumentException("Private Data of " + chosen.privateData().length + " bytes; at most "
                    + room + " fit into the answer to an " + initiate.code());
        }
        return initiate.data();
    }

    /** Passive side: returns the outcome of its Accept. */
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
