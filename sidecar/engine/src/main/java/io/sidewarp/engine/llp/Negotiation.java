// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rules by which both sides come to IRD, ORD and the connection model (RFC 6581 sections 9.1 and 9.2). */
public final class Negotiation {

    private Negotiation() {}

    /**
     * What one side wants.
     *
     * @param ird inbound RDMA Read Requests that it serves at a time
     * @param ord outbound RDMA Read Requests that it wants at a time
     * @param negotiated whether the depths are told and heeded, or left to the applications
     * @param peerToPeer whether it asks for the peer-to-peer model, as Initiator
     * @param rtr kinds of ready-to-receive indication that it can send and take, the one it likes best first
     */
    public record Terms(int ird, int ord, boolean negotiated, boolean peerToPeer, List<RtrKind> rtr) {}

    /**
     * What came out of it for one side.
     *
     * @param ird inbound RDMA Read Requests that this side serves
     * @param ord outbound RDMA Read Requests that this side may use
     * @param rtr what the Initiator sends first, or null
     * @param error why the Initiator has to end the connection with a Terminate, or null
     */
    public record Outcome(
            int ird,
            int ord,
            @Nullable RtrKind rtr,
            @Nullable LlpError error) {}

    /** What the Initiator says. */
    public static EnhancedData request(Terms own) {
        int ird = own.negotiated() ? own.ird() : EnhancedData.NOT_NEGOTIATED;
        int ord = own.negotiated() ? own.ord() : EnhancedData.NOT_NEGOTIATED;
        return own.peerToPeer() ? EnhancedData.peerToPeer(own.rtr(), ird, ord) : EnhancedData.clientServer(ird, ord);
    }

    /**
     * What the Responder answers when it accepts: it wants no more reads than the Initiator serves, and does not
     * negotiate what the Initiator does not. Of the kinds of indication that were asked for it offers those that it
     * takes; others only if there is none.
     */
    public static EnhancedData accept(EnhancedData asked, Terms own) {
        boolean negotiated = own.negotiated();
        return answer(
                asked,
                own,
                negotiated ? served(offered(asked, own).contains(RtrKind.READ), own) : EnhancedData.NOT_NEGOTIATED,
                negotiated ? Math.min(own.ord(), asked.ird()) : EnhancedData.NOT_NEGOTIATED);
    }

    /** An Initiator may look at kinds that it did not ask for, and end the connection for them, as Linux cxgb4 does. */
    private static List<RtrKind> offered(EnhancedData asked, Terms own) {
        if (!asked.peerToPeer()) {
            return List.of();
        }
        List<RtrKind> common = own.rtr().stream().filter(asked::offers).toList();
        return common.isEmpty() ? own.rtr() : common;
    }

    /** Inbound reads of the Responder: one for the indication if none else. */
    private static int served(boolean rtrByRead, Terms own) {
        return rtrByRead ? Math.max(1, own.ird()) : own.ird();
    }

    /** What the Responder answers when it rejects: the depths that it would have needed. */
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

    /** Nothing was negotiated. */
    public static Outcome unnegotiated(Terms own) {
        return new Outcome(own.ird(), own.ord(), null, null);
    }

    /**
     * What the Responder does once it has answered. That it does not negotiate permits it no more reads than the
     * Initiator serves (RFC 6581 section 9.1).
     */
    public static Outcome ofResponder(Terms own, EnhancedData asked, EnhancedData answered) {
        return new Outcome(served(answered.rtrRead(), own), limited(own.ord(), asked.ird()), null, null);
    }

    /** What the Initiator does with the answer. */
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
