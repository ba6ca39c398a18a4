// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Collects the single start-up frame that this side receives, and checks it while it arrives (RFC 5044 sections 7.1.1
 * and 7.1.2). Takes no byte after the frame.
 */
final class StartupFrameReader {

    /** Verdict on the bytes so far. */
    enum Verdict {
        /** The bytes so far are valid. */
        INCOMPLETE,
        /** The frame is complete and valid. */
        COMPLETE,
        /** The Key differs from the expected Key. */
        WRONG_KEY,
        /** The Key is that of the frames which this side sends: both sides have the same role. */
        SAME_ROLE,
        /** This side cannot use the revision. */
        UNUSABLE_REVISION,
        /** S=1 without room for the enhanced data (RFC 6581 section 6). */
        NO_ENHANCED_DATA,
        /** PD_Length exceeds 512 bytes, or the limit of this side. */
        TOO_MUCH_PRIVATE_DATA
    }

    private final MpaFrameFlyweight frame = new MpaFrameFlyweight();
    private final MpaTransport transport;
    private final MpaRole role;
    private final MpaOptions options;
    private @Nullable WireBuffer buffer;
    private int held;

    StartupFrameReader(MpaTransport transport, MpaRole role, MpaOptions options) {
        this.transport = transport;
        this.role = role;
        this.options = options;
    }

    /**
     * Returns the frame. Legal until {@link #release}, while the frame is {@link Verdict#COMPLETE} or its revision
     * unusable.
     */
    MpaFrameFlyweight frame() {
        return frame;
    }

    /** Bytes of the frame that arrived. */
    int held() {
        return held;
    }

    /**
     * Takes bytes of the frame.
     *
     * @return bytes taken
     */
    int receive(WireBuffer in, int offset, int length) {
        WireBuffer target = buffer;
        if (target == null) {
            target = transport.acquireReassembly(MpaFrameFlyweight.MAX_LENGTH);
            buffer = target;
            frame.wrap(target, 0);
        }
        int taken = take(target, in, offset, Math.min(length, MpaFrameFlyweight.HEADER_LENGTH - held));
        if (verdict() == Verdict.INCOMPLETE && held >= MpaFrameFlyweight.HEADER_LENGTH) {
            taken += take(target, in, offset + taken, Math.min(length - taken, frame.length() - held));
        }
        return taken;
    }

    private int take(WireBuffer target, WireBuffer in, int offset, int length) {
        if (length <= 0) {
            return 0;
        }
        target.putBytes(held, in, offset, length);
        held += length;
        return length;
    }

    /** Returns the verdict on the bytes so far. A wrong Key is detected with its first wrong byte. */
    Verdict verdict() {
        if (held == 0) {
            return Verdict.INCOMPLETE;
        }
        boolean initiator = role == MpaRole.INITIATOR;
        if (!(initiator ? frame.isReplyKey(held) : frame.isRequestKey(held))) {
            return (initiator ? frame.isRequestKey(held) : frame.isReplyKey(held))
                    ? Verdict.SAME_ROLE
                    : Verdict.WRONG_KEY;
        }
        if (held < MpaFrameFlyweight.HEADER_LENGTH) {
            return Verdict.INCOMPLETE;
        }
        if (!options.policy().revisions().contains(frame.rev())) {
            return Verdict.UNUSABLE_REVISION;
        }
        if (frame.pdLength() > options.maxPrivateData()) {
            return Verdict.TOO_MUCH_PRIVATE_DATA;
        }
        if (frame.isEnhanced() && frame.pdLength() < EnhancedData.LENGTH) {
            return Verdict.NO_ENHANCED_DATA;
        }
        return held < frame.length() ? Verdict.INCOMPLETE : Verdict.COMPLETE;
    }

    /** Returns the buffer to the transport. The frame must not be used any more. */
    void release() {
        if (buffer != null) {
            transport.releaseReassembly(buffer);
            buffer = null;
        }
    }
}
