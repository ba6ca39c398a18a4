// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One MPA connection over one TCP connection (RFC 5044): start-up, then Full Operation until the connection ends. A
 * state machine without I/O, threads or timers; everything happens on the event loop that owns the TCP connection.
 *
 * <p>The I/O layer calls {@link #start} when the TCP stream has reached the point where MPA begins, {@link #receive},
 * {@link #receiveDone} and {@link #receiveEnd} with what arrives, {@link #produce} and {@link #transferred} when bytes
 * can go out and have gone, {@link #startupTimeout} when its timer says so, and last of all either {@link #closed} or
 * {@link #receiveLost}. The layer above uses it as a {@link LowerLayer}; positions there are bytes of the outbound TCP
 * stream since MPA began.
 *
 * <p>Full Operation allocates nothing per FPDU and answers what is wrong with the input without exceptions.
 */
public final class MpaConnection implements LowerLayer {

    /** Room in bytes that holds every FPDU: 64768 bytes of ULPDU, Markers and the rest. */
    public static final int MAX_FPDU_LENGTH = 65288;

    private static final int NO_CLAIM = -1;

    private final MpaRole role;
    private final MpaTransport transport;
    private final MpaStartupListener listener;
    private final Startup startup;
    private @Nullable UpperLayer upper;
    private @Nullable FpduReader reader;
    private @Nullable FpduWriter writer;

    private boolean outputWanted;
    private boolean outputEnded;
    private boolean closing;
    private boolean aborted;
    private boolean peerClosed;
    private boolean truncated;
    private boolean outputHeld;
    private boolean closed;

    private @Nullable WireBuffer buffer;
    private int cursor;
    private int limit;
    private int claimed = NO_CLAIM;
    private int mulpdu = Mulpdu.MIN;
    private long producedPosition;
    private long committedPosition;
    private long transferredPosition;

    /**
     * @param options for start-up; a Responder may change them when it accepts
     * @param listener told about start-up
     */
    public MpaConnection(MpaRole role, MpaOptions options, MpaTransport transport, MpaStartupListener listener) {
        this.role = role;
        this.transport = transport;
        this.listener = listener;
        this.startup = new Startup(role, options, transport, listener);
    }

    // ---- Start-up

    /** MPA begins here in the TCP stream, in both directions. The Initiator asks for output. */
    public void start() {
        if (startup.hasOutput()) {
            transport.requestOutput();
        }
    }

    /**
     * Binds the layer above, at the latest before {@link MpaStartupListener#onEstablished} returns (RFC 5044 section
     * 7.1).
     */
    public void attach(UpperLayer upperLayer) {
        if (upper != null) {
            throw new IllegalStateException("an upper layer is attached already");
        }
        upper = upperLayer;
    }

    /** Responder: what a policy has against accepting a Request, or nothing. */
    public static Optional<String> refusal(MpaPolicy policy, MpaStartup request) {
        return Optional.ofNullable(Startup.refusal(policy, request.revision(), request.peerCrc()));
    }

    /**
     * Responder: accepts the Request that {@link MpaStartupListener#onRequest} told of. Without effect if start-up
     * failed meanwhile.
     *
     * @param options for the Reply and for this connection from now on
     */
    public void accept(MpaOptions options) {
        startup.accept(options);
    }

    /**
     * Responder: rejects the Request that {@link MpaStartupListener#onRequest} told of. Without effect if start-up
     * failed meanwhile.
     *
     * @param options for the Reply: its Private Data, and the depths that would have been needed
     */
    public void reject(MpaOptions options) {
        startup.reject(options);
    }

    /**
     * Sends no FPDU before {@link #releaseOutput()}, for peers that overlook one which arrives right behind their Reply.
     * Legal before {@link MpaStartupListener#onEstablished} returns.
     */
    public void holdOutput() {
        outputHeld = true;
    }

    /** Ends {@link #holdOutput()}. */
    public void releaseOutput() {
        outputHeld = false;
        replayRequestOutput();
    }

    /** The time that the I/O layer gives start-up is over. Without effect once start-up has ended. */
    public void startupTimeout() {
        startup.timeout();
    }

    private void enterFullOperation(MpaStartup agreed) {
        writer = new FpduWriter(agreed.crc(), agreed.sendMarkers(), 0);
        committedPosition = producedPosition;
        updateMulpdu(MAX_FPDU_LENGTH);
        listener.onEstablished(agreed);
        if (closing || aborted) {
            return;
        }
        UpperLayer bound = upper;
        if (bound == null) {
            throw new IllegalStateException("no upper layer is attached on entry to Full Operation");
        }
        FpduReader fpdus = new FpduReader(transport, bound, agreed.crc(), agreed.receiveMarkers(), 0);
        reader = fpdus;
        LlpError error = agreed.error();
        if (error != null) {
            fpdus.stop();
            bound.onError(error);
        }
        replayRequestOutput();
    }

    // ---- Input

    /**
     * Takes bytes that TCP delivered, in any portions. They may be changed where they are, and are done with when this
     * returns.
     *
     * @return bytes taken: all, except behind a Reply that rejects when TCP is left open for other use
     */
    public int receive(WireBuffer in, int offset, int length) {
        return receive(in, offset, length, false);
    }

    /**
     * As {@link #receive(WireBuffer, int, int)}. A caller that keeps is left with the beginning of a long FPDU
     * ({@link #incompleteFpdu}), to be passed again with what follows behind it.
     */
    public int receive(WireBuffer in, int offset, int length, boolean keeps) {
        int taken = 0;
        if (startup.inProgress() && length > 0) {
            taken = startup.receive(in, offset, length);
            MpaStartup agreed = startup.agreed();
            if (agreed != null) {
                enterFullOperation(agreed);
            }
        }
        if (reader != null) {
            receiveFpdus(reader, in, offset + taken, length - taken, keeps);
            return length - reader.left();
        } else if (startup.state() == Startup.State.REJECTED
                && !startup.options().closeOnReject()) {
            return taken;
        }
        return length;
    }

    /** Bytes of the FPDU whose beginning was not taken, or 0 when everything was. */
    public int incompleteFpdu() {
        return reader == null || reader.left() == 0 ? 0 : reader.incompleteLength();
    }

    /** Whether the input so far ends inside an FPDU. */
    public boolean isInsideFpdu() {
        return reader != null && reader.insideFpdu();
    }

    /** Bytes of the FPDUs that were received and validated. */
    public long receivedPosition() {
        return reader == null ? 0 : reader.position();
    }

    private void receiveFpdus(FpduReader fpdus, WireBuffer in, int offset, int length, boolean keeps) {
        boolean permitted = outputPermitted();
        LlpError error = fpdus.receive(in, offset, length, keeps);
        if (error != null && upper != null) {
            upper.onError(error);
        }
        if (!permitted && outputPermitted() && upper != null) {
            upper.onOutputPermitted();
            replayRequestOutput();
        }
    }

    /** The batch of input is over. */
    public void receiveDone() {
        if (reader != null && upper != null && !closed) {
            upper.onInputDone();
        }
    }

    /** TCP delivered a FIN: the peer sends no more. */
    public void receiveEnd() {
        if (startup.inProgress()) {
            startup.receiveEnd();
        } else if (reader != null && upper != null && !closing && !aborted && !closed) {
            peerClosed = true;
            truncated = reader.insideFpdu();
            reader.stop();
            if (truncated) {
                upper.onError(LlpError.CONNECTION_LOST);
            } else {
                upper.onPeerClosed();
            }
        }
    }

    /** The TCP connection is gone out of order: reset, timed out, failed. No further call may follow. */
    public void receiveLost(String cause) {
        finish(false, cause);
    }

    /** The TCP connection is gone after both directions were closed, or after an abort. No further call may follow. */
    public void closed() {
        finish(!aborted && !truncated, aborted ? "aborted by this side" : "closed");
    }

    private void finish(boolean graceful, String cause) {
        if (closed) {
            return;
        }
        closed = true;
        outputEnded = true;
        if (reader != null) {
            reader.stop();
        }
        startup.lost(cause);
        if (upper != null) {
            upper.onClosed(graceful, cause);
        }
    }

    // ---- Output

    /**
     * Writes bytes for TCP: a start-up frame, then FPDUs of the layer above. What is written is considered sent in
     * this order. FPDUs are no longer than the buffer. One of {@link #MAX_FPDU_LENGTH} bytes and some for a start-up frame
     * shortens none; one that holds a start-up frame, or an FPDU of the smallest MULPDU, always gets on.
     *
     * @param offset where to write first
     * @param end behind the last byte that may be written
     * @return bytes written, 0 when there is nothing to send
     */
    public int produce(WireBuffer out, int offset, int end) {
        cursor = offset;
        if (startup.hasOutput() && !aborted) {
            cursor += startup.produce(out, offset, end);
            producedPosition += cursor - offset;
            MpaStartup agreed = startup.agreed();
            if (agreed != null) {
                enterFullOperation(agreed);
            }
            endOutputBehindStartup();
        }
        if (reader != null && upper != null && !outputEnded) {
            updateMulpdu(end - offset);
            buffer = out;
            limit = end;
            try {
                upper.produce();
            } finally {
                buffer = null;
                claimed = NO_CLAIM;
            }
            if (outputWanted && peerClosed && !outputHeld) {
                // No FPDU can come any more that would permit the output which the upper layer tried.
                close();
            }
        }
        return cursor - offset;
    }

    /** TCP took over that many more of the bytes that {@link #produce} returned. */
    public void transferred(long octets) {
        transferredPosition += octets;
        if (reader != null && upper != null && !closed) {
            upper.onTransferred();
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>Here too {@link UpperLayer#produce()} is called, so that it can end the direction, but its claims are refused.
     */
    @Override
    public boolean outputPermitted() {
        return reader != null && !outputEnded && (role == MpaRole.INITIATOR || reader.validated());
    }

    @Override
    public void requestOutput() {
        if (reader == null) {
            outputWanted = true;
        } else if (!outputEnded) {
            transport.requestOutput();
        }
    }

    private void replayRequestOutput() {
        if (outputWanted) {
            outputWanted = false;
            requestOutput();
        }
    }

    /** @param room bytes that an FPDU has at most, besides what else bounds it */
    private void updateMulpdu(int room) {
        MpaStartup agreed = startup.agreed();
        int cap = startup.options().policy().maxFpdu();
        int most = Math.min(transport.emss(), room);
        mulpdu = Mulpdu.of(cap == 0 ? most : Math.min(cap, most), agreed != null && agreed.sendMarkers());
    }

    @Override
    public int mulpdu() {
        return mulpdu;
    }

    @Override
    public int protocolVersion() {
        MpaStartup agreed = startup.agreed();
        if (agreed == null) {
            throw new IllegalStateException("MPA start-up is not over");
        }
        return agreed.protocolVersion();
    }

    @Override
    public boolean claim(int ulpduLength) {
        claimed = NO_CLAIM;
        if (buffer == null || writer == null) {
            throw new IllegalStateException("claim outside of produce");
        }
        if (ulpduLength < 1 || ulpduLength > mulpdu) {
            throw new IllegalArgumentException("ULPDU of " + ulpduLength + " octets, MULPDU is " + mulpdu);
        }
        if (outputHeld || !outputPermitted()) {
            outputWanted = !outputEnded;
            return false;
        }
        if (writer.fpduLength(ulpduLength) > limit - cursor) {
            transport.requestOutput();
            return false;
        }
        claimed = ulpduLength;
        return true;
    }

    @Override
    public WireBuffer buffer() {
        if (buffer == null) {
            throw new IllegalStateException("no room claimed");
        }
        return buffer;
    }

    @Override
    public int offset() {
        if (claimed == NO_CLAIM || writer == null) {
            throw new IllegalStateException("no room claimed");
        }
        return cursor + writer.ulpduOffset();
    }

    @Override
    public void commit() {
        if (claimed == NO_CLAIM || writer == null || buffer == null) {
            throw new IllegalStateException("no room claimed");
        }
        int length = writer.write(buffer, cursor, claimed);
        claimed = NO_CLAIM;
        cursor += length;
        producedPosition += length;
        committedPosition = producedPosition;
    }

    @Override
    public long committedPosition() {
        return committedPosition;
    }

    @Override
    public long transferredPosition() {
        return transferredPosition;
    }

    // ---- Ending

    @Override
    public void closeOutput() {
        if (outputEnded) {
            return;
        }
        outputEnded = true;
        if (!startup.hasOutput()) {
            transport.shutdownOutput();
        }
    }

    @Override
    public void close() {
        if (closing || aborted || closed) {
            return;
        }
        closing = true;
        outputEnded = true;
        if (reader != null) {
            reader.stop();
        }
        startup.withdraw();
        if (!startup.hasOutput()) {
            transport.close();
        }
    }

    /** A close asked for while a start-up frame had to go out follows now. */
    private void endOutputBehindStartup() {
        if (startup.hasOutput() || aborted) {
            return;
        }
        if (closing) {
            transport.close();
        } else if (outputEnded) {
            transport.shutdownOutput();
        }
    }

    @Override
    public void abort() {
        if (aborted || closed) {
            return;
        }
        aborted = true;
        outputEnded = true;
        if (reader != null) {
            reader.stop();
        }
        startup.withdraw();
        transport.abort();
    }

    @Override
    public boolean abortReachesPeer() {
        return true;
    }
}
