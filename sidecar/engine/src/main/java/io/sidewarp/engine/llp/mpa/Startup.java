// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Start-up of an MPA connection in either role (RFC 5044 section 7.1). Knows nothing of FPDUs: it ends with what both
 * sides agreed on, or without an agreement.
 */
final class Startup {

    /** How far it has got. */
    enum State {
        /** Waits for the peer's frame; the Initiator's Request may still have to go out. */
        AWAITING_FRAME,
        /** Responder: the Consumer has to accept or reject. */
        AWAITING_DECISION,
        /** Responder: the Reply that accepts has to go out. */
        ACCEPTING,
        /** Both frames were exchanged, the Reply accepts. */
        ESTABLISHED,
        /** The Reply rejects; on the Responder it may still have to go out. */
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
    private @Nullable MpaStartup request;
    private @Nullable MpaStartup agreed;
    private @Nullable EnhancedData answer;

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
        if (role == MpaRole.INITIATOR) {
            send(newRequest(options));
        }
    }

    State state() {
        return state;
    }

    /** Options in force. */
    MpaOptions options() {
        return options;
    }

    /** What both sides agreed on, or null before {@link State#ESTABLISHED}. */
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
     * Takes octets while start-up is in progress.
     *
     * @return octets taken; what is left belongs to the next phase, or to nobody if start-up failed
     */
    int receive(WireBuffer in, int offset, int length) {
        if (state != State.AWAITING_FRAME) {
            // The Initiator has to wait for the Reply, so nothing can follow the Request (section 7.1.1, PD_Length).
            fail(LlpError.INVALID_STARTUP_FRAME, "octets behind the MPA Request Frame before it was answered");
            return length;
        }
        int taken = reader.receive(in, offset, length);
        switch (reader.verdict()) {
            case INCOMPLETE -> {}
            case COMPLETE -> complete(length - taken);
            case WRONG_KEY -> fail(LlpError.INVALID_STARTUP_FRAME, "not an " + expected() + ": its Key is wrong");
            case SAME_ROLE ->
                fail(
                        LlpError.INVALID_STARTUP_FRAME,
                        "both sides started MPA as " + role + ": expected an " + expected());
            case UNUSABLE_REVISION -> unusableRevision();
            case NO_ENHANCED_DATA ->
                fail(
                        LlpError.INVALID_STARTUP_FRAME,
                        expected() + " has S=1 and only " + reader.frame().pdLength() + " octets of Private Data");
            case TOO_MUCH_PRIVATE_DATA ->
                fail(
                        LlpError.INVALID_STARTUP_FRAME,
                        expected() + " announces " + reader.frame().pdLength() + " octets of Private Data, at most "
                                + options.maxPrivateData() + " are taken");
        }
        return taken;
    }

    private void complete(int excess) {
        MpaFrameFlyweight frame = reader.frame();
        MpaStartup peer = MpaStartup.agree(options, frame);
        boolean rejected = frame.r();
        reader.release();
        if (role == MpaRole.RESPONDER) {
            if (excess > 0) {
                fail(LlpError.INVALID_STARTUP_FRAME, excess + " octets behind the MPA Request Frame");
                return;
            }
            request = peer;
            state = State.AWAITING_DECISION;
            listener.onRequest(peer);
        } else if (hasOutput()) {
            fail(LlpError.INVALID_STARTUP_FRAME, "MPA Reply Frame before the Request was sent");
        } else if (rejected) {
            state = State.REJECTED;
            listener.onRejected(peer.privateData());
            if (options.closeOnReject()) {
                transport.close();
            }
        } else {
            state = State.ESTABLISHED;
            agreed = peer.with(options, options.revision() >= 2 ? options.enhanced() : null);
        }
    }

    /**
     * A Responder answers with the revision it would speak, so that the peer learns it, and then closes (RFC 5044
     * C.2.1; section 7.1.1 asks for the close only). The Reply rejects: nobody shall take the connection for
     * established.
     */
    private void unusableRevision() {
        int revision = reader.frame().rev();
        fail(
                LlpError.INVALID_STARTUP_FRAME,
                expected() + " has MPA revision " + revision + ", usable are " + options.acceptedRevisions(),
                role == MpaRole.RESPONDER);
    }

    /** The Responder's Consumer accepts. Without effect once start-up failed. */
    void accept(MpaOptions chosen) {
        if (!decide()) {
            return;
        }
        options = chosen;
        state = State.ACCEPTING;
        send(newReply(chosen.privateData(), false));
        transport.requestOutput();
    }

    /** The Responder's Consumer rejects. Without effect once start-up failed. */
    void reject(byte[] privateData) {
        if (!decide()) {
            return;
        }
        send(newReply(privateData, true));
        state = State.REJECTED;
        closeBehindOutput = options.closeOnReject();
        transport.requestOutput();
    }

    private boolean decide() {
        if (state == State.FAILED) {
            return false;
        }
        if (state != State.AWAITING_DECISION) {
            throw new IllegalStateException("no MPA Request to answer: " + role + " is " + state);
        }
        return true;
    }

    /** Ends start-up as failed, tells the Consumer and closes. Without effect once it has ended. */
    void fail(LlpError reason, String message) {
        fail(reason, message, false);
    }

    private void fail(LlpError reason, String message, boolean reply) {
        if (!inProgress()) {
            return;
        }
        state = State.FAILED;
        reader.release();
        output = null;
        if (reply) {
            send(newFrame(0, options.revision()).replyKey().r(true).privateData(new byte[0]));
            closeBehindOutput = true;
            transport.requestOutput();
        } else {
            transport.close();
        }
        listener.onStartupFailed(reason, message);
    }

    /** Ends start-up as failed because TCP is gone. */
    void lost(String cause) {
        if (inProgress()) {
            state = State.FAILED;
            reader.release();
            output = null;
            listener.onStartupFailed(LlpError.CONNECTION_LOST, cause);
        }
    }

    /** Ends start-up as failed because this side ends the connection. An answer that was given still goes out. */
    void withdraw() {
        lost("closed by this side during MPA start-up");
    }

    /** The peer closed its direction during start-up. */
    void receiveEnd() {
        boolean truncated = state == State.AWAITING_FRAME && reader.held() > 0;
        fail(
                truncated ? LlpError.INVALID_STARTUP_FRAME : LlpError.CONNECTION_LOST,
                truncated
                        ? "peer closed TCP after " + reader.held() + " octets of an " + expected()
                        : "peer closed TCP during MPA start-up");
    }

    /** The time for start-up is over. */
    void timeout() {
        fail(
                LlpError.CONNECTION_LOST,
                state == State.AWAITING_FRAME
                        ? "no " + expected() + " in time (" + reader.held() + " octets arrived)"
                        : "MPA Request Frame not answered in time");
    }

    private String expected() {
        return role == MpaRole.INITIATOR ? "MPA Reply Frame" : "MPA Request Frame";
    }

    /** Whether a frame, or the rest of one, has to go out. */
    boolean hasOutput() {
        return output != null;
    }

    /**
     * Writes what has to go out as far as there is room. Behind the Responder's last octet follows what comes next:
     * Full Operation or the close.
     *
     * @return octets written
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
            agreed = request.with(options, answer);
        }
        if (closeBehindOutput) {
            transport.close();
        }
        return length;
    }

    private MpaFrameFlyweight newRequest(MpaOptions own) {
        byte[] data = own.privateData();
        if (own.revision() < 2) {
            return newFrame(data.length, own.revision()).requestKey().privateData(data);
        }
        return newFrame(EnhancedData.LENGTH + data.length, own.revision())
                .requestKey()
                .enhancedPrivateData(own.enhanced(), data);
    }

    /** A Reply has the revision of the Request, and is enhanced if that was (RFC 6581 section 10). */
    private MpaFrameFlyweight newReply(byte[] data, boolean reject) {
        int revision = request == null ? options.revision() : request.revision();
        EnhancedData asked = request == null ? null : request.peer();
        if (asked == null) {
            return newFrame(data.length, revision).replyKey().r(reject).privateData(data);
        }
        answer = asked.answer(options.enhanced().ird(), options.enhanced().ord());
        return newFrame(EnhancedData.LENGTH + data.length, revision)
                .replyKey()
                .r(reject)
                .enhancedPrivateData(answer, data);
    }

    private MpaFrameFlyweight newFrame(int pdLength, int revision) {
        if (pdLength > MpaFrameFlyweight.MAX_PD_LENGTH) {
            throw new IllegalArgumentException("Private Data of " + pdLength
                    + " octets, enhanced data included; MPA carries at most " + MpaFrameFlyweight.MAX_PD_LENGTH);
        }
        WireBuffer buffer = WireBuffer.allocate(MpaFrameFlyweight.HEADER_LENGTH + pdLength);
        output = buffer;
        return new MpaFrameFlyweight()
                .wrap(buffer, 0)
                .m(options.receiveMarkers())
                .c(options.crc())
                .rev(revision);
    }

    private void send(MpaFrameFlyweight frame) {
        outputLength = frame.length();
        outputWritten = 0;
    }
}
