// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.Nullable;

/**
 * Start of a session: the active side's Initiate, and the passive side's answer. The answer is an Accept or a Reject of
 * the Consumer, or a Terminate (RFC 5043 sections 6.2 to 6.4). The exchange opens or ends the session, and reports the
 * outcome to the {@link DdpSessionListener}.
 */
final class InitialExchange {

    private final DdpAssociation association;
    private final DdpStreamSession session;
    private final SessionOutput output;
    private final SessionOpening opening = new SessionOpening();
    private @Nullable DdpSessionListener listener;
    /** True on the active side until the answer arrives, even if the session has ended for this side. */
    private boolean unanswered;

    InitialExchange(DdpAssociation association, DdpStreamSession session, SessionOutput output) {
        this.association = association;
        this.session = session;
        this.output = output;
    }

    /** Passive side: sets the listener for the outcome. */
    void listen(DdpSessionListener sessionListener) {
        listener = sessionListener;
    }

    private DdpSessionListener requireListener() {
        DdpSessionListener told = listener;
        if (told == null) {
            throw new IllegalStateException("nobody listens to the session on stream " + session.stream());
        }
        return told;
    }

    /** Returns whether this is the active side and the answer has not arrived. */
    boolean isUnanswered() {
        return unanswered;
    }

    /** Reports that the session did not open, for a reason other than the answer. */
    void fail(String cause) {
        if (listener != null) {
            listener.onFailed(false, cause);
            forget();
        }
    }

    /** Drops the listener and the Initiate. The session itself is kept until its stream is free. */
    private void forget() {
        opening.forgetInitiate();
        listener = null;
    }

    // ---- Active side

    void initiate(SessionOptions options, DdpSessionListener sessionListener) {
        unanswered = true;
        listener = sessionListener;
        output.send(opening.initiate(options));
        association.enqueue(session);
    }

    void onAnswer(ControlMessage message) {
        unanswered = false;
        FunctionCode code = message.code();
        boolean enhanced = opening.isEnhanced();
        if (code.isInitiate()) {
            // This message is no answer: the peer may not have seen this side's Initiate yet.
            session.endUnopened(false);
            output.terminate();
            fail("both sides began a session on stream " + session.stream() + " at the same time");
            return;
        }
        output.onAnswer();
        if (code.isAccept() && code.isEnhanced() == enhanced) {
            session.open(requireListener(), opening.accepted(message));
            association.enqueue(session);
        } else if (code == FunctionCode.TERMINATE) {
            session.endUnopened(true);
            requireListener()
                    .onFailed(
                            true,
                            "the peer refused the session: it takes no more requests at present"
                                    + (enhanced ? ", or no enhanced ones (RFC 6581)" : ""));
        } else if (code.isReject() && (enhanced || !code.isEnhanced())) {
            session.endUnopened(true);
            requireListener().onRejected(opening.rejected(message));
        } else {
            session.violate(code + " as the answer to an " + (enhanced ? "Enhanced " : "") + "Initiate");
        }
    }

    /**
     * Takes a control message of a session that has ended for this side.
     *
     * @return whether the message takes the place of the answer
     */
    boolean onLateControl(ControlMessage message) {
        if (!unanswered) {
            return false;
        }
        unanswered = false;
        if (!message.code().isInitiate()) {
            output.onAnswer();
        }
        return true;
    }

    // ---- Passive side

    void onInitiate(ControlMessage message) {
        if (!message.code().isInitiate()) {
            session.violate(message.code() + " instead of an Initiate");
            return;
        }
        session.awaitDecision();
        opening.onInitiate(message);
        if (!association.onInitiate(session, SessionStartup.asked(message))) {
            association.counters().refusedInitiates++;
            session.withdraw();
        } else if (session.isRequest()) {
            requireListener();
        }
    }

    /**
     * Handles a Terminate that withdraws the peer's request. No legal sequence contains it, so this side answers with a
     * Terminate too (section 6.1). The Consumer is not asked.
     */
    void onWithdrawal() {
        output.terminate();
        session.endUnopened(true);
        fail("the peer withdrew its request");
    }

    void accept(SessionOptions chosen) {
        requireUndecided();
        output.send(opening.accept(chosen));
        association.enqueue(session);
    }

    void reject(SessionOptions chosen) {
        requireUndecided();
        output.send(opening.reject(chosen));
        session.endUnopened(true);
        forget();
    }

    private void requireUndecided() {
        if (!session.isUndecided()) {
            throw new IllegalStateException("no Initiate to answer on stream " + session.stream());
        }
    }

    /** Reports that SCTP took the Accept. */
    void onAcceptSent() {
        session.open(requireListener(), opening.agreed());
    }

    // ---- Withdrawal, see {@link DdpStreamSession#withdraw}

    void withdrawRequest() {
        output.dropUnsentControl();
        session.endUnopened(false);
        if (output.isSilent()) {
            association.release(session);
        } else {
            session.linger.begin();
        }
    }

    void withdrawAnswer() {
        boolean accepted = output.isControlUnderWay();
        output.dropUnsentControl();
        output.terminate();
        session.endUnopened(!accepted);
        forget();
    }
}
