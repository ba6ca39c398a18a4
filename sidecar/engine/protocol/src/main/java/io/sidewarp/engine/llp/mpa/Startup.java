// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Start-up of an MPA connection in either role (RFC 5044 section 7.1). Handles no FPDUs. Ends with the values that both
 * sides agreed on, or without an agreement.
 */
final class Startup {

    /** State of start-up. */
    enum State {
        /** Waits for the peer's frame. The Initiator's Request may still wait to be sent. */
        AWAITING_FRAME,
        /** Responder: waits until the Consumer accepts or rejects. */
        AWAITING_DECISION,
        /** Responder: the Reply that accepts waits to be sent. */
        ACCEPTING,
        /** Both frames were exchanged, and the Reply accepts. */
        ESTABLISHED,
        /** The Reply rejects. On the Responder, the Reply may still wait to be sent. */
        REJECTED,
        /** Start-up failed. */
        FAILED
    }

    private final MpaRole role;
    private final MpaTransport transport;
    private final MpaStartupListener listener;
    private final StartupFrameReader reader;
    private MpaOptions options;
    private State state = State.AWAITING_FRAME;
    private final int requestRevision;
    private @Nullable PeerFrame request;
    private @Nullable MpaStartup agreed;
    private @Nullable EnhancedData told;

    private @Nullable WireBuffer output;
    private int outputLength;
    private int outputWritten;
    private boolean closeBehindOutput;

    Startup(MpaRole role, MpaOptions options, MpaTransport transport, MpaStartupListener listener) {
        this.role = role;
        this.options = options;
        this.transport = transport;
        this.listener = listener;
        this.reader = new StartupFrameReader(transport, role, options);
        this.requestRevision = options.requestRevision();
        if (role == MpaRole.INITIATOR) {
            sendRequest();
        }
    }

    State state() {
        return state;
    }

    /** Options in force. */
    MpaOptions options() {
        return options;
    }

    /** Returns the values that both sides agreed on, or null before {@link State#ESTABLISHED}. */
    @Nullable
    MpaStartup agreed() {
        return agreed;
    }

    boolean inProgress() {
        return switch (state) {
            case AWAITING_FRAME, AWAITING_DECISION, ACCEPTING -> true;
            case ESTABLISHED, REJECTED, FAILED -> false;
        };
    }

    /**
     * Takes bytes while start-up is in progress.
     *
     * @return bytes taken. The remaining bytes belong to the next phase, or are dropped if start-up failed
     */
    int receive(WireBuffer in, int offset, int length) {
        if (state != State.AWAITING_FRAME) {
            // The Initiator must wait for the Reply, so no byte may follow the Request (section 7.1.1, PD_Length).
            invalid("bytes after the MPA Request Frame before its answer");
            return length;
        }
        int taken = reader.receive(in, offset, length);
        switch (reader.verdict()) {
            case INCOMPLETE -> {}
            case COMPLETE -> complete(length - taken);
            case WRONG_KEY -> invalid("not an " + expected() + ": its Key is wrong");
            case SAME_ROLE -> invalid("both sides started MPA as " + role + ": expected an " + expected());
            case UNUSABLE_REVISION -> unusableRevision();
            case NO_ENHANCED_DATA ->
                invalid(expected() + " has S=1 and only " + reader.frame().pdLength() + " bytes of Private Data");
            case TOO_MUCH_PRIVATE_DATA ->
                invalid(expected() + " announces " + reader.frame().pdLength() + " bytes of Private Data, at most "
                        + options.maxPrivateData() + " are taken");
        }
        return taken;
    }

    private void complete(int excess) {
        PeerFrame frame = PeerFrame.of(reader.frame(), options.policy().depths());
        reader.release();
        if (role == MpaRole.RESPONDER) {
            onRequest(frame, excess);
        } else if (hasOutput()) {
            invalid("MPA Reply Frame before the Request was sent");
        } else {
            onReply(frame);
        }
    }

    private void onRequest(PeerFrame frame, int excess) {
        if (excess > 0) {
            invalid(excess + " bytes after the MPA Request Frame");
            return;
        }
        request = frame;
        state = State.AWAITING_DECISION;
        String refusal = refusal(options.policy(), frame.revision(), frame.crc());
        if (refusal == null) {
            listener.onRequest(MpaStartup.asked(options, frame));
        } else {
            refuse(frame, refusal);
        }
    }

    private void onReply(PeerFrame frame) {
        if (requestRevision >= 2 && !frame.isEnhanced()) {
            onUnenhancedPeer("it answered with revision " + frame.revision() + " and without enhanced data");
            return;
        }
        if (frame.revision() > requestRevision) {
            invalid("MPA Reply Frame of revision " + frame.revision() + " to a Request of revision " + requestRevision);
            return;
        }
        String refusal = refusal(options.policy(), frame.revision(), frame.crc());
        MpaStartup answered = MpaStartup.answered(options, told, frame, refusal != null && !frame.rejected());
        if (frame.rejected()) {
            state = State.REJECTED;
            listener.onRejected(answered);
            if (options.closeOnReject()) {
                transport.close();
            }
        } else if (refusal != null && !frame.isEnhanced()) {
            invalid(refusal);
        } else {
            state = State.ESTABLISHED;
            agreed = answered;
        }
    }

    /** Ends start-up because of this side's policy. The rejection tells the peer that its frame is not invalid. */
    private void refuse(PeerFrame asked, String refusal) {
        state = State.FAILED;
        EnhancedData data = asked.data();
        told = data == null ? null : Negotiation.accept(data, options.terms(asked.form()));
        sendReply(asked, true, new byte[0]);
        closeBehindOutput = true;
        transport.requestOutput();
        listener.onStartupFailed(LlpError.INVALID_STARTUP_FRAME, refusal);
    }

    /** Returns the reason why this side's policy refuses a valid frame of the peer, or null. */
    static @Nullable String refusal(MpaPolicy policy, int revision, boolean peerCrc) {
        if (!policy.revisions().contains(revision)) {
            return "MPA revision " + revision + " of the peer is not permitted here";
        }
        return policy.crc() == CrcPolicy.REQUIRED && !peerCrc
                ? "the peer does not declare CRCs (C=0), which are required here"
                : null;
    }

    /** Handles a peer that did not recognise the enhanced Request. */
    private void onUnenhancedPeer(String what) {
        String message = "the peer does not know MPA revision 2: " + what;
        if (!options.policy().revisions().contains(1)) {
            invalid(message + "; revision 1 is not permitted here");
            return;
        }
        state = State.FAILED;
        reader.release();
        transport.close();
        listener.onUnenhancedPeer(message);
    }

    /**
     * Returns whether the peer may have left because of the Request's revision, since only the Request was exchanged.
     */
    private boolean mayKnowNoEnhancedRequest() {
        return role == MpaRole.INITIATOR
                && state == State.AWAITING_FRAME
                && requestRevision >= 2
                && !hasOutput()
                && reader.held() == 0
                && options.policy().revisions().contains(1);
    }

    /**
     * Handles a frame with an unusable revision. A Responder answers with the revision that it can use, so that the
     * peer learns the revision, and then closes (RFC 5044 C.2.1). Section 7.1.1 requires only the close. The Reply
     * rejects, so that no peer takes the connection for established.
     */
    private void unusableRevision() {
        int revision = reader.frame().rev();
        if (role == MpaRole.INITIATOR && revision < requestRevision && requestRevision >= 2) {
            onUnenhancedPeer("it answered with revision " + revision);
            return;
        }
        fail(
                LlpError.INVALID_STARTUP_FRAME,
                expected() + " has MPA revision " + revision + ", usable are "
                        + options.policy().revisions(),
                role == MpaRole.RESPONDER);
    }

    /** Accepts for the Responder's Consumer. Has no effect after start-up failed. */
    void accept(MpaOptions chosen) {
        PeerFrame asked = decide();
        if (asked == null) {
            return;
        }
        options = chosen;
        EnhancedData data = asked.data();
        told = data == null ? null : Negotiation.accept(data, chosen.terms(asked.form()));
        sendReply(asked, false, chosen.privateData());
        state = State.ACCEPTING;
        transport.requestOutput();
    }

    /** Rejects for the Responder's Consumer. Has no effect after start-up failed. */
    void reject(MpaOptions chosen) {
        PeerFrame asked = decide();
        if (asked == null) {
            return;
        }
        options = chosen;
        EnhancedData data = asked.data();
        told = data == null ? null : Negotiation.reject(data, chosen.terms());
        sendReply(asked, true, chosen.privateData());
        state = State.REJECTED;
        closeBehindOutput = chosen.closeOnReject();
        transport.requestOutput();
    }

    /** Returns the Request to answer, or null if start-up has failed meanwhile. */
    private @Nullable PeerFrame decide() {
        if (state == State.FAILED) {
            return null;
        }
        if (state != State.AWAITING_DECISION) {
            throw new IllegalStateException("no MPA Request to answer: " + role + " is " + state);
        }
        return request;
    }

    /** Fails start-up, tells the Consumer and closes. Has no effect after start-up has ended. */
    void fail(LlpError reason, String message) {
        fail(reason, message, false);
    }

    private void invalid(String message) {
        fail(LlpError.INVALID_STARTUP_FRAME, message);
    }

    private void fail(LlpError reason, String message, boolean reply) {
        if (!inProgress()) {
            return;
        }
        state = State.FAILED;
        reader.release();
        output = null;
        if (reply) {
            MpaFrameFlyweight frame = newFrame(DepthForm.NONE, new byte[0]).replyKey();
            send(frame.r(true).rev(options.policy().revisions().contains(1) ? 1 : requestRevision));
            closeBehindOutput = true;
            transport.requestOutput();
        } else {
            transport.close();
        }
        listener.onStartupFailed(reason, message);
    }

    /** Ends start-up because TCP is gone. */
    void lost(String cause) {
        if (mayKnowNoEnhancedRequest()) {
            onUnenhancedPeer("no answer, and " + cause);
        } else {
            abandon(cause);
        }
    }

    private void abandon(String cause) {
        if (inProgress()) {
            state = State.FAILED;
            reader.release();
            output = null;
            listener.onStartupFailed(LlpError.CONNECTION_LOST, cause);
        }
    }

    /** Fails start-up because this side ends the connection. An answer that was given is still sent. */
    void withdraw() {
        abandon("closed by this side during MPA start-up");
    }

    /** Handles a peer that closed its direction during start-up. */
    void receiveEnd() {
        if (mayKnowNoEnhancedRequest()) {
            onUnenhancedPeer("it closed TCP without an answer");
            return;
        }
        boolean truncated = state == State.AWAITING_FRAME && reader.held() > 0;
        fail(
                truncated ? LlpError.INVALID_STARTUP_FRAME : LlpError.CONNECTION_LOST,
                truncated
                        ? "peer closed TCP after " + reader.held() + " bytes of an " + expected()
                        : "peer closed TCP during MPA start-up");
    }

    /** Fails start-up because its time has ended. */
    void timeout() {
        fail(
                LlpError.CONNECTION_LOST,
                state == State.AWAITING_FRAME
                        ? "no " + expected() + " in time (" + reader.held() + " bytes arrived)"
                        : "MPA Request Frame not answered in time");
    }

    private String expected() {
        return role == MpaRole.INITIATOR ? "MPA Reply Frame" : "MPA Request Frame";
    }

    /** Returns whether a frame, or the rest of a frame, waits to be sent. */
    boolean hasOutput() {
        return output != null;
    }

    /**
     * Writes as much of the frame as fits. After the last byte of the Responder's frame, Full Operation or the close
     * follows.
     *
     * @return bytes written
     */
    int produce(WireBuffer out, int offset, int limit) {
        WireBuffer frame = output;
        if (frame == null) {
            return 0;
        }
        int length = Math.min(limit - offset, outputLength - outputWritten);
        out.putBytes(offset, frame, outputWritten, length);
        outputWritten += length;
        if (outputWritten < outputLength) {
            transport.requestOutput();
            return length;
        }
        output = null;
        if (state == State.ACCEPTING && request != null) {
            state = State.ESTABLISHED;
            agreed = MpaStartup.accepted(options, request, told);
        }
        if (closeBehindOutput) {
            transport.close();
        }
        return length;
    }

    private void sendRequest() {
        DepthForm form = DepthForm.ofRequest(requestRevision, options.policy().depths());
        told = form == DepthForm.NONE ? null : Negotiation.request(options.terms(form));
        send(newFrame(form, options.privateData()).requestKey().rev(requestRevision));
    }

    /**
     * Sends a Reply. The Reply has the revision of the Request, and contains depths where the Request does (RFC 6581
     * section 10). It declares CRCs also when only the Request does. Both sides use CRCs then (RFC 5044 section 7.1.1),
     * and Linux siw looks only at the Reply.
     */
    private void sendReply(PeerFrame asked, boolean reject, byte[] data) {
        MpaFrameFlyweight frame =
                newFrame(asked.form(), data).replyKey().r(reject).rev(asked.revision());
        if (asked.crc()) {
            frame.c(true);
        }
        if (asked.isRdmac()) {
            frame.m(true);
        }
        send(frame);
    }

    private MpaFrameFlyweight newFrame(DepthForm form, byte[] data) {
        if (data.length > form.room()) {
            throw new IllegalArgumentException("Private Data of " + data.length + " bytes; at most " + form.room()
                    + " fit into this start-up frame");
        }
        WireBuffer buffer = WireBuffer.allocate(MpaFrameFlyweight.HEADER_LENGTH + form.length() + data.length);
        output = buffer;
        MpaFrameFlyweight frame = new MpaFrameFlyweight()
                .wrap(buffer, 0)
                .m(options.policy().receiveMarkers())
                .c(options.policy().crc().declared())
                .privateData(form.length(), data);
        form.write(frame, told);
        return frame;
    }

    private void send(MpaFrameFlyweight frame) {
        outputLength = frame.length();
        outputWritten = 0;
    }
}
