// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.Nullable;

/**
 * What a session begins with: the active side's Initiate, and the passive side's answer to it. That is an Accept or a
 * Reject, at the direction of the Consumer, or a Terminate (RFC 5043 sections 6.2 to 6.4). It opens the session or ends
 * it, and then tells the {@link SessionListener} why.
 */
final class InitialExchange {

    private enum Stage {
        /** Passive: chunks are here, the Initiate is not. */
        EXPECTED,
        /** Active: the Initiate waits for its answer, perhaps of a session that has ended for this side. */
        REQUESTED,
        /** Passive: the Initiate waits for the Consumer, or the Accept for SCTP. */
        PENDING,
        /** The answer is here, or was given. */
        ANSWERED
    }

    private final DdpAssociation association;
    private final DdpStreamSession session;
    private final SessionOutput output;
    private final SessionOpening opening = new SessionOpening();
    private Stage stage = Stage.EXPECTED;
    private @Nullable SessionListener listener;

    InitialExchange(DdpAssociation association, DdpStreamSession session, SessionOutput output) {
        this.association = association;
        this.session = session;
        this.output = output;
    }

    /** Passive side: says who learns the outcome. */
    void listen(SessionListener sessionListener) {
        listener = sessionListener;
    }

    private SessionListener requireListener() {
        SessionListener told = listener;
        if (told == null) {
            throw new IllegalStateException("nobody listens to the session on stream " + session.stream());
        }
        return told;
    }

    /** Whether this is the passive side, and the Initiate has not come. */
    boolean isExpected() {
        return stage == Stage.EXPECTED;
    }

    /** Whether this is the active side, and the answer has not come. */
    boolean isUnanswered() {
        return stage == Stage.REQUESTED;
    }

    /** A control message of a session that is neither open nor over. */
    void onControl(ControlMessage message) {
        switch (stage) {
            case EXPECTED -> onInitiate(message);
            case REQUESTED -> onAnswer(message);
            case PENDING -> onWithdrawal();
            case ANSWERED -> throw new IllegalStateException(message.code() + " behind the answer");
        }
    }

    /** The session did not come about, for a reason that is not in the answer. */
    void fail(String cause) {
        if (stage != Stage.EXPECTED) {
            requireListener().onFailed(false, cause);
            forget();
        }
    }

    /** The session is kept until its stream is free; what it was about need not be. */
    private void forget() {
        opening.forgetInitiate();
        listener = null;
    }

    // ---- Active side

    void initiate(SessionOptions options, SessionListener sessionListener) {
        stage = Stage.REQUESTED;
        listener = sessionListener;
        output.send(opening.initiate(options));
        association.enqueue(session);
    }

    private void onAnswer(ControlMessage message) {
        stage = Stage.ANSWERED;
        FunctionCode code = message.code();
        boolean enhanced = opening.isEnhanced();
        if (code.isInitiate()) {
            // No answer: the peer may not have seen this side's Initiate yet.
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
     * A control message of a session that has ended for this side.
     *
     * @return whether it stands in the place of the answer
     */
    boolean onLateControl(ControlMessage message) {
        if (stage != Stage.REQUESTED) {
            return false;
        }
        stage = Stage.ANSWERED;
        if (!message.code().isInitiate()) {
            output.onAnswer();
        }
        return true;
    }

    // ---- Passive side

    private void onInitiate(ControlMessage message) {
        if (!message.code().isInitiate()) {
            session.violate(message.code() + " instead of an Initiate");
            return;
        }
        stage = Stage.PENDING;
        session.awaitDecision();
        opening.onInitiate(message);
        if (!association.onInitiate(session, SessionStartup.asked(message))) {
            association.mutableCounters().refusedInitiates++;
            session.withdraw();
        } else if (stage == Stage.PENDING) {
            requireListener();
        }
    }

    /**
     * The peer has ended what it asked for, with a Terminate. It is in none of the legal sequences, so it gets one too
     * (section 6.1); the Consumer need not be asked.
     */
    private void onWithdrawal() {
        stage = Stage.ANSWERED;
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
        stage = Stage.ANSWERED;
        session.endUnopened(true);
        forget();
    }

    /** Whether the Initiate waits for the Consumer. */
    boolean isUndecided() {
        return stage == Stage.PENDING && !output.hasControl() && !output.isControlUnderWay();
    }

    /** Whether the Initiate waits for the Consumer, or the Accept for SCTP. */
    boolean isPending() {
        return stage == Stage.PENDING;
    }

    private void requireUndecided() {
        if (!isUndecided()) {
            throw new IllegalStateException("no Initiate to answer on stream " + session.stream());
        }
    }

    /** SCTP took the Initiate, or the Accept. */
    void onControlSent() {
        if (stage == Stage.PENDING) {
            stage = Stage.ANSWERED;
            session.open(requireListener(), opening.agreed());
        }
    }

    // ---- Either side

    /** Gives it up; see {@link DdpStreamSession#withdraw}. */
    void withdraw() {
        if (stage == Stage.REQUESTED) {
            output.dropUnsentControl();
            session.endUnopened(false);
            if (output.isSilent()) {
                association.release(session);
            } else {
                session.awaitLastWord();
            }
        } else if (stage == Stage.PENDING) {
            boolean accepted = output.isControlUnderWay();
            output.dropUnsentControl();
            output.terminate();
            stage = Stage.ANSWERED;
            session.endUnopened(!accepted);
            forget();
        }
    }
}
