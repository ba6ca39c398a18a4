// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rules by which both sides agree on IRD, ORD and the connection model (RFC 6581 sections 9.1 and 9.2). */
public final class Negotiation {

    private Negotiation() {}

    /**
     * Terms that one side wants.
     *
     * @param ird inbound RDMA Read Requests that the side serves at a time
     * @param ord outbound RDMA Read Requests that the side wants at a time
     * @param negotiated whether the depths are sent and obeyed, or left to the applications
     * @param peerToPeer whether the side, as Initiator, asks for the peer-to-peer model
     * @param rtr kinds of ready-to-receive indication that the side can send and take, the preferred kind first
     */
    public record Terms(int ird, int ord, boolean negotiated, boolean peerToPeer, List<RtrKind> rtr) {}

    /**
     * Result of the negotiation for one side.
     *
     * @param ird inbound RDMA Read Requests that this side serves
     * @param ord outbound RDMA Read Requests that this side may use
     * @param rtr kind of the Initiator's first message, or null
     * @param error reason why the Initiator must end the connection with a Terminate, or null
     */
    public record Outcome(
            int ird,
            int ord,
            @Nullable RtrKind rtr,
            @Nullable LlpError error) {

        /**
         * Returns the result for an Initiator whose policy refuses the answer. No error code is specific to this case
         * (RFC 6581 section 9.3).
         */
        public Outcome refused() {
            return new Outcome(ird, ord, rtr, error == null ? LlpError.LOCAL_CATASTROPHIC : error);
        }
    }

    /** Returns the data of the Initiator's request. */
    public static EnhancedData request(Terms own) {
        int ird = own.negotiated() ? own.ird() : EnhancedData.NOT_NEGOTIATED;
        int ord = own.negotiated() ? own.ord() : EnhancedData.NOT_NEGOTIATED;
        return own.peerToPeer() ? EnhancedData.peerToPeer(own.rtr(), ird, ord) : EnhancedData.clientServer(ird, ord);
    }

    /**
     * Returns the data of the Responder's answer when it accepts. The Responder wants no more reads than the Initiator
     * serves, and does not negotiate a depth that the Initiator does not negotiate. It offers the requested kinds of
     * indication that it takes. It offers other kinds only if it takes none of the requested kinds.
     */
    public static EnhancedData accept(EnhancedData asked, Terms own) {
        boolean negotiated = own.negotiated();
        return answer(
                asked,
                own,
                negotiated ? served(offered(asked, own).contains(RtrKind.READ), own) : EnhancedData.NOT_NEGOTIATED,
                negotiated ? Math.min(own.ord(), asked.ird()) : EnhancedData.NOT_NEGOTIATED);
    }

    /**
     * Returns the kinds to offer. An Initiator such as Linux cxgb4 ends the connection for kinds that it did not
     * request.
     */
    private static List<RtrKind> offered(EnhancedData asked, Terms own) {
        if (!asked.peerToPeer()) {
            return List.of();
        }
        List<RtrKind> common = own.rtr().stream().filter(asked::offers).toList();
        return common.isEmpty() ? own.rtr() : common;
    }

    /** Returns the inbound reads of the Responder. An indication by Read needs at least one. */
    private static int served(boolean rtrByRead, Terms own) {
        return rtrByRead ? Math.max(1, own.ird()) : own.ird();
    }

    /** Returns the data of the Responder's answer when it rejects: the depths that the Responder would need. */
    public static EnhancedData reject(EnhancedData asked, Terms own) {
        return answer(asked, own, own.ird(), own.ord());
    }

    private static EnhancedData answer(EnhancedData asked, Terms own, int ird, int ord) {
        int answeredIrd = asked.ord() == EnhancedData.NOT_NEGOTIATED ? EnhancedData.NOT_NEGOTIATED : ird;
        int answeredOrd = asked.ird() == EnhancedData.NOT_NEGOTIATED ? EnhancedData.NOT_NEGOTIATED : ord;
        return asked.peerToPeer()
                ? EnhancedData.peerToPeer(offered(asked, own), answeredIrd, answeredOrd)
                : EnhancedData.clientServer(answeredIrd, answeredOrd);
    }

    /** Returns the result without negotiation. */
    public static Outcome unnegotiated(Terms own) {
        return new Outcome(own.ird(), own.ord(), null, null);
    }

    /**
     * Returns the result for the Responder after its answer. Even without negotiation, the Responder may use no more
     * reads than the Initiator serves (RFC 6581 section 9.1).
     */
    public static Outcome ofResponder(Terms own, EnhancedData asked, EnhancedData answered) {
        return new Outcome(served(answered.rtrRead(), own), limited(own.ord(), asked.ird()), null, null);
    }

    /** Returns the result for the Initiator after the answer. */
    public static Outcome ofInitiator(Terms own, EnhancedData asked, EnhancedData answered) {
        int ord = limited(own.ord(), asked.ord() == EnhancedData.NOT_NEGOTIATED ? asked.ord() : answered.ird());
        int ird = own.ird();
        boolean told = asked.ird() != EnhancedData.NOT_NEGOTIATED && answered.ord() != EnhancedData.NOT_NEGOTIATED;
        if (told && answered.ord() > ird) {
            return new Outcome(ird, ord, null, LlpError.INSUFFICIENT_IRD);
        }
        if (!asked.peerToPeer()) {
            return new Outcome(ird, ord, null, null);
        }
        for (RtrKind kind : own.rtr()) {
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
