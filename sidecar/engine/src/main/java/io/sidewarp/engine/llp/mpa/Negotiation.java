// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.RtrKind;
import org.jspecify.annotations.Nullable;

/** The rules by which both sides come to IRD, ORD and the connection model (RFC 6581 sections 9.1 and 9.2). */
final class Negotiation {

    private Negotiation() {}

    /**
     * What came out of it for one side.
     *
     * @param ird inbound RDMA Read Requests that this side serves
     * @param ord outbound RDMA Read Requests that this side may use
     * @param rtr what the Initiator sends first, or null
     * @param error why the Initiator has to end the connection with a Terminate, or null
     */
    record Outcome(
            int ird,
            int ord,
            @Nullable RtrKind rtr,
            @Nullable LlpError error) {}

    /**
     * Rev of the Request. The enhanced formats are used only when something is wanted of them (section 10), and not when
     * the Consumer needs the room that they take and can do without.
     */
    static int requestRevision(MpaOptions options) {
        MpaPolicy policy = options.policy();
        boolean wanted = policy.peerToPeer() || policy.depths() != DepthNegotiation.NONE;
        boolean fits = options.privateData().length <= DepthForm.ENHANCED.room();
        return wanted && fits || !policy.revisions().contains(1) ? policy.requestRevision() : 1;
    }

    /** What the Initiator says. Only the enhanced form has room for the connection model. */
    static @Nullable EnhancedData request(MpaOptions options, DepthForm form) {
        if (form == DepthForm.NONE) {
            return null;
        }
        boolean negotiated = options.policy().depths() != DepthNegotiation.NONE;
        int ird = negotiated ? options.ird() : EnhancedData.NOT_NEGOTIATED;
        int ord = negotiated ? options.ord() : EnhancedData.NOT_NEGOTIATED;
        return form == DepthForm.ENHANCED && options.policy().peerToPeer()
                ? EnhancedData.peerToPeer(options.policy().rtr(), ird, ord)
                : EnhancedData.clientServer(ird, ord);
    }

    /**
     * What the Responder answers when it accepts: it wants no more reads than the Initiator serves, and does not
     * negotiate what the Initiator does not. It offers all kinds of indication that it takes, also such as were not
     * asked for.
     */
    static EnhancedData accept(EnhancedData asked, MpaOptions options) {
        boolean negotiated = options.policy().depths() != DepthNegotiation.NONE;
        return answer(
                asked,
                options,
                negotiated ? served(asked, options) : EnhancedData.NOT_NEGOTIATED,
                negotiated ? Math.min(options.ord(), asked.ird()) : EnhancedData.NOT_NEGOTIATED);
    }

    /** Inbound reads of the Responder: one for the indication if none else. */
    private static int served(EnhancedData asked, MpaOptions options) {
        boolean rtrByRead = asked.rtrRead() && options.policy().rtr().contains(RtrKind.READ);
        return rtrByRead ? Math.max(1, options.ird()) : options.ird();
    }

    /** What the Responder answers when it rejects: the depths that it would have needed. */
    static EnhancedData reject(EnhancedData asked, MpaOptions options) {
        return answer(asked, options, options.ird(), options.ord());
    }

    private static EnhancedData answer(EnhancedData asked, MpaOptions options, int ird, int ord) {
        int answeredIrd = asked.ord() == EnhancedData.NOT_NEGOTIATED ? EnhancedData.NOT_NEGOTIATED : ird;
        int answeredOrd = asked.ird() == EnhancedData.NOT_NEGOTIATED ? EnhancedData.NOT_NEGOTIATED : ord;
        return asked.peerToPeer()
                ? EnhancedData.peerToPeer(options.policy().rtr(), answeredIrd, answeredOrd)
                : EnhancedData.clientServer(answeredIrd, answeredOrd);
    }

    /** Nothing was negotiated. */
    static Outcome unnegotiated(MpaOptions options) {
        return new Outcome(options.ird(), options.ord(), null, null);
    }

    /** What the Responder does once it has answered. */
    static Outcome ofResponder(MpaOptions options, EnhancedData asked, EnhancedData answered) {
        return new Outcome(served(asked, options), limited(options.ord(), answered.ord()), null, null);
    }

    /** What the Initiator does with the answer. */
    static Outcome ofInitiator(MpaOptions options, EnhancedData asked, EnhancedData answered) {
        int ord = limited(options.ord(), asked.ord() == EnhancedData.NOT_NEGOTIATED ? asked.ord() : answered.ird());
        int ird = options.ird();
        boolean told = asked.ird() != EnhancedData.NOT_NEGOTIATED && answered.ord() != EnhancedData.NOT_NEGOTIATED;
        if (told && answered.ord() > ird) {
            return new Outcome(ird, ord, null, LlpError.INSUFFICIENT_IRD);
        }
        if (!asked.peerToPeer()) {
            return new Outcome(ird, ord, null, null);
        }
        for (RtrKind kind : options.policy().rtr()) {
            if (answered.offers(kind) && (kind != RtrKind.READ || answered.ird() > 0)) {
                return new Outcome(ird, ord, kind, null);
            }
        }
        return new Outcome(ird, ord, null, LlpError.NO_MATCHING_RTR);
    }

    private static int limited(int own, int peer) {
        return peer == EnhancedData.NOT_NEGOTIATED ? own : Math.min(own, peer);
    }
}
