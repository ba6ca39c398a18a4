// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * One end of an in-memory wire, or a lower layer without a peer when a test plays the peer. A test sees each ULPDU as
 * it was committed. The test sets the room for output, and says when the transport has taken output over.
 *
 * <p>Checks that the layer above keeps the contract of {@link LowerLayer}. Fails if that layer claims at the wrong time
 * or too much, or uses bytes after their time. Allocates nothing after the first use of buffers.
 */
public final class WireEnd implements LowerLayer {

    /** Octets before a ULPDU in its buffer; not 0, so that nobody gets away with ignoring the offset. */
    private static final int LEAD = 6;

    /** Content of unwritten and outdated bytes. */
    private static final WireBuffer STALE = WireBuffer.allocate(65_536);

    static {
        STALE.segment().fill((byte) 0xDB);
    }

    /** Increase of the position by a commit, besides the ULPDU. The unit of positions belongs to the lower layer. */
    private static final int POSITION_OVERHEAD = 6;

    private static final int NO_CLAIM = -1;

    /** A ULPDU on the wire. */
    static final class Frame {
        private WireBuffer buffer = WireBuffer.allocate(0);
        private int length;
    }

    private final ArrayDeque<Frame> outbound = new ArrayDeque<>();
    private final ArrayDeque<Frame> spare = new ArrayDeque<>();
    private UpperLayer upper;
    private Frame claimedFrame = new Frame();
    private int claimed = NO_CLAIM;
    private boolean producing;
    private boolean wanted;
    private int roomLeft;

    private int mulpdu = 1024;
    private int version = 1;
    private boolean permitted = true;
    private boolean holdingTransfer;
    private IntSupplier room = () -> Integer.MAX_VALUE;
    private long committedPosition;
    private long transferredPosition;

    private boolean outputEnded;
    private boolean closing;
    private boolean aborted;
    private boolean over;

    /** Binds the layer above. */
    public void attach(UpperLayer upperLayer) {
        upper = upperLayer;
    }

    // Settings of a test.

    public WireEnd mulpdu(int octets) {
        mulpdu = octets;
        return this;
    }

    public WireEnd protocolVersion(int newVersion) {
        version = newVersion;
        return this;
    }

    /** ULPDUs that are taken during the next turns, asked for at the beginning of each. */
    public WireEnd room(IntSupplier ulpdusPerTurn) {
        room = ulpdusPerTurn;
        return this;
    }

    /** ULPDUs that are taken during each of the next turns. */
    public WireEnd room(int ulpdusPerTurn) {
        return room(() -> ulpdusPerTurn);
    }

    /** Forbids or permits output, as the rules of start-up do. */
    public WireEnd outputPermitted(boolean isPermitted) {
        permitted = isPermitted;
        return this;
    }

    /** If true, the transport takes nothing over until {@link #transferAll} or {@link #transfer} is called. */
    public WireEnd holdTransfer(boolean hold) {
        holdingTransfer = hold;
        return this;
    }

    // Observations of a test.

    /** True while the layer above wants to be asked for output. */
    public boolean outputWanted() {
        return wanted && !outputEnded;
    }

    /** True when the layer above ended the outbound direction, alone or with everything else. */
    public boolean outputEnded() {
        return outputEnded;
    }

    /** True when the layer above closed both directions in order. */
    public boolean closing() {
        return closing;
    }

    public boolean aborted() {
        return aborted;
    }

    /** True when the layer above was told that the stream is gone. */
    public boolean over() {
        return over;
    }

    /** ULPDUs that were committed and not taken off yet. */
    public int pending() {
        return outbound.size();
    }

    /** Takes off all ULPDUs that were committed, oldest first. */
    public List<Segment> takeAll() {
        List<Segment> result = new ArrayList<>();
        while (!outbound.isEmpty()) {
            result.add(take());
        }
        return result;
    }

    /** Takes off the oldest ULPDU that was committed. */
    public Segment take() {
        Frame frame = poll();
        if (frame == null) {
            throw new AssertionError("no ULPDU was committed");
        }
        byte[] octets = Octets.of(frame.buffer, LEAD, frame.length);
        recycle(frame);
        return new Segment(octets);
    }

    // Actions of a test.

    /** Asks the layer above for output if it wants to be asked; false if not. */
    public boolean output() {
        if (!outputWanted() || over) {
            return false;
        }
        wanted = false;
        roomLeft = room.getAsInt();
        producing = true;
        try {
            upper.produce();
        } finally {
            producing = false;
            claimed = NO_CLAIM;
        }
        if (!holdingTransfer) {
            transferAll();
        }
        return true;
    }

    /** Takes over everything committed. */
    public void transferAll() {
        transfer(committedPosition);
    }

    /** Takes over everything committed up to a position. */
    public void transfer(long position) {
        transferredPosition = position;
        if (!over) {
            upper.onTransferred();
        }
    }

    /** Takes over everything committed, and has not told the layer above yet. */
    public void silentlyTransferAll() {
        transferredPosition = committedPosition;
    }

    /** Gives ULPDUs to the layer above, as one batch of input. */
    public void input(byte[]... ulpdus) {
        for (byte[] ulpdu : ulpdus) {
            inputWithoutEnd(ulpdu);
        }
        upper.onInputDone();
    }

    /** Gives a ULPDU to the layer above, in the middle of a batch. */
    public void inputWithoutEnd(byte[] ulpdu) {
        Frame frame = newFrame(ulpdu.length);
        frame.buffer.putBytes(LEAD, ulpdu, 0, ulpdu.length);
        frame.length = ulpdu.length;
        input(frame);
        recycle(frame);
    }

    void input(Frame frame) {
        upper.onUlpdu(frame.buffer, LEAD, frame.length);
        frame.buffer.putBytes(LEAD, STALE, 0, frame.length);
    }

    /** The lower layer finds an error in what arrives. */
    public void error(LlpError error) {
        upper.onError(error);
    }

    /** The peer's direction ends in order. */
    public void peerClosed() {
        upper.onPeerClosed();
    }

    /** The stream is gone. */
    public void over(boolean graceful, String cause) {
        if (!over) {
            over = true;
            outputEnded = true;
            upper.onClosed(graceful, cause);
        }
    }

    Frame poll() {
        return outbound.poll();
    }

    void recycle(Frame frame) {
        spare.push(frame);
    }

    UpperLayer upper() {
        return upper;
    }

    byte[] octetsOf(Frame frame) {
        return Octets.of(frame.buffer, LEAD, frame.length);
    }

    private Frame newFrame(int length) {
        Frame frame = spare.isEmpty() ? new Frame() : spare.pop();
        if (frame.buffer.capacity() < LEAD + length) {
            frame.buffer = WireBuffer.allocate(LEAD + Math.max(length, mulpdu));
        }
        return frame;
    }

    // LowerLayer.

    @Override
    public int mulpdu() {
        return mulpdu;
    }

    @Override
    public int protocolVersion() {
        return version;
    }

    @Override
    public boolean claim(int ulpduLength) {
        if (!producing) {
            throw new AssertionError("claim outside of produce");
        }
        if (outputEnded) {
            throw new AssertionError("claim behind the end of output");
        }
        if (ulpduLength < 1 || ulpduLength > mulpdu) {
            throw new AssertionError("claim of " + ulpduLength + " octets at a MULPDU of " + mulpdu);
        }
        if (claimed != NO_CLAIM) {
            spare.push(claimedFrame);
            claimed = NO_CLAIM;
        }
        if (!permitted || roomLeft == 0) {
            wanted = true;
            return false;
        }
        claimed = ulpduLength;
        claimedFrame = newFrame(ulpduLength);
        claimedFrame.buffer.putBytes(LEAD, STALE, 0, ulpduLength);
        return true;
    }

    private void requireClaim() {
        if (claimed == NO_CLAIM) {
            throw new AssertionError("nothing is claimed");
        }
    }

    @Override
    public WireBuffer buffer() {
        requireClaim();
        return claimedFrame.buffer;
    }

    @Override
    public int offset() {
        requireClaim();
        return LEAD;
    }

    @Override
    public void commit() {
        requireClaim();
        claimedFrame.length = claimed;
        outbound.add(claimedFrame);
        committedPosition += claimed + POSITION_OVERHEAD;
        claimed = NO_CLAIM;
        roomLeft--;
    }

    @Override
    public long committedPosition() {
        return committedPosition;
    }

    @Override
    public long transferredPosition() {
        return transferredPosition;
    }

    @Override
    public boolean outputPermitted() {
        return permitted && !outputEnded;
    }

    @Override
    public void requestOutput() {
        wanted = true;
    }

    @Override
    public void closeOutput() {
        outputEnded = true;
    }

    @Override
    public void close() {
        closing = true;
        outputEnded = true;
    }

    @Override
    public void abort() {
        aborted = true;
        outputEnded = true;
    }

    @Override
    public boolean abortReachesPeer() {
        return true;
    }
}
