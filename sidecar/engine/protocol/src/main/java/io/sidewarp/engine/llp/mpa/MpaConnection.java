// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One MPA connection over one TCP connection (RFC 5044): start-up, then Full Operation until the connection ends. The
 * class is a state machine without I/O, threads or timers. Everything runs on the event loop that owns the TCP
 * connection.
 *
 * <p>The I/O layer makes these calls:
 *
 * <ul>
 *   <li>{@link #start} when the TCP stream has reached the point where MPA begins,
 *   <li>{@link #receive}, {@link #receiveDone} and {@link #receiveEnd} for input,
 *   <li>{@link #produce} when bytes can be sent, and {@link #transferred} when bytes were sent,
 *   <li>{@link #startupTimeout} when its timer expires,
 *   <li>and finally either {@link #closed} or {@link #receiveLost}.
 * </ul>
 *
 * <p>The layer above uses the connection as a {@link LowerLayer}. Positions there count the bytes of the outbound TCP
 * stream since MPA began.
 *
 * <p>Full Operation allocates nothing per FPDU and reports faults in the input without exceptions.
 */
public final class MpaConnection implements LowerLayer {

    /** Buffer size in bytes that holds every FPDU: 64768 bytes of ULPDU, Markers, header, PAD and CRC. */
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
     * @param options options of start-up; a Responder may change them when it accepts
     * @param listener listener for start-up
     */
    public MpaConnection(MpaRole role, MpaOptions options, MpaTransport transport, MpaStartupListener listener) {
        this.role = role;
        this.transport = transport;
        this.listener = listener;
        this.startup = new Startup(role, options, transport, listener);
    }

    // ---- Start-up

    /** Begins MPA at the current point of the TCP stream, in both directions. The Initiator asks for output. */
    public void start() {
        if (startup.hasOutput()) {
            transport.requestOutput();
        }
    }

    /**
     * Attaches the layer above, at the latest before {@link MpaStartupListener#onEstablished} returns (RFC 5044 section
     * 7.1).
     */
    public void attach(UpperLayer upperLayer) {
        if (upper != null) {
            throw new IllegalStateException("an upper layer is attached already");
        }
        upper = upperLayer;
    }

    /** Responder: returns the reason why a policy does not accept a Request, or nothing. */
    public static Optional<String> refusal(MpaPolicy policy, MpaStartup request) {
        return Optional.ofNullable(Startup.refusal(policy, request.revision(), request.peerCrc()));
    }

    /**
     * Responder: accepts the Request that {@link MpaStartupListener#onRequest} reported. Has no effect if start-up has
     * failed meanwhile.
     *
     * @param options options for the Reply and for this connection from now on
     */
    public void accept(MpaOptions options) {
        startup.accept(options);
    }

    /**
     * Responder: rejects the Request that {@link MpaStartupListener#onRequest} reported. Has no effect if start-up has
     * failed meanwhile.
     *
     * @param options options for the Reply: its Private Data, and the depths that this side would need
     */
    public void reject(MpaOptions options) {
        startup.reject(options);
    }

    /**
     * Holds all FPDUs back until {@link #releaseOutput()}, for peers that overlook an FPDU directly after their Reply.
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

    /** Fails start-up because the time that the I/O layer allows has ended. Has no effect after start-up. */
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
     * Takes bytes that TCP delivered, in portions of any size. The method may change the bytes in place, and does not
     * use them after it returns.
     *
     * @return bytes taken. These are all bytes, unless they follow a Reply that rejects while TCP stays open for other
     *     use
     */
    public int receive(WireBuffer in, int offset, int length) {
        return receive(in, offset, length, false);
    }

    /**
     * Takes bytes as {@link #receive(WireBuffer, int, int)} does. With {@code keeps}, the beginning of a long FPDU
     * ({@link #incompleteFpdu}) is left to the caller. The caller passes it again, followed by the next bytes.
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

    /** Returns the length in bytes of the FPDU whose beginning was not taken, or 0 when all bytes were taken. */
    public int incompleteFpdu() {
        return reader == null || reader.left() == 0 ? 0 : reader.incompleteLength();
    }

    /** Returns whether the input so far ends inside an FPDU. */
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

    /** Reports the end of a batch of input. */
    public void receiveDone() {
        if (reader != null && upper != null && !closed) {
            upper.onInputDone();
        }
    }

    /** Reports the FIN of the peer: the peer sends no more. */
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

    /** Reports the loss of the TCP connection by a reset, time-out or failure. No call may follow. */
    public void receiveLost(String cause) {
        finish(false, cause);
    }

    /**
     * Reports the end of the TCP connection after both directions were closed, or after an abort. No call may follow.
     */
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
     * Writes bytes for TCP: a start-up frame, then FPDUs of the layer above. The written bytes count as sent in this
     * order. An FPDU is never longer than the buffer. A buffer of {@link #MAX_FPDU_LENGTH} bytes plus room for a
     * start-up frame shortens no FPDU. A buffer for a start-up frame, or for an FPDU of the smallest MULPDU,
     * always allows progress.
     *
     * @param offset first offset to write
     * @param end offset after the last byte that may be written
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
                // No FPDU can arrive any more that would permit the output of the upper layer.
                close();
            }
        }
        return cursor - offset;
    }

    /** Reports that TCP took over more of the bytes that {@link #produce} returned. */
    public void transferred(long octets) {
        transferredPosition += octets;
        if (reader != null && upper != null && !closed) {
            upper.onTransferred();
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>Even while output is forbidden, {@link UpperLayer#produce()} is called so that it can end the direction. Its
     * claims are then refused.
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

    /** @param room most bytes that an FPDU may have, besides its other limits */
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
            throw new IllegalArgumentException("ULPDU of " + ulpduLength + " bytes, MULPDU is " + mulpdu);
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

    /** Carries out a close that was requested before the start-up frame had been sent. */
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
