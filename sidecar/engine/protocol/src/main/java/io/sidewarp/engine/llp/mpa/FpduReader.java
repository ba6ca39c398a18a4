// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import org.jspecify.annotations.Nullable;

/**
 * Inbound half of Full Operation. Finds the FPDUs in the byte stream by their ULPDU_Length, verifies them and passes
 * their ULPDUs up (RFC 5044 sections 5.2 and 6).
 *
 * <p>An FPDU that is complete in the input is passed up from there. An incomplete FPDU is assembled in a buffer of the
 * transport. The buffer is held only until the FPDU is complete, and grows with the bytes that have arrived. A caller
 * may instead keep the bytes of a long FPDU in its input. Markers are removed in place. The reader accepts every
 * ULPDU_Length that the field can express. Section 3 limits the sender to 64768 bytes, and section 8 has no error for
 * the receiver. Allocates nothing.
 */
final class FpduReader {

    /** Longest FPDU in bytes that is cheap to copy into a buffer. */
    static final int SHORT = 4096;

    /**
     * Maximum ratio of the buffer of a longer FPDU to the bytes that have arrived. The ratio is so high that growing
     * copies little. It is so low that the peer has to send most of the bytes that it makes this side hold.
     */
    private static final int AHEAD = 4;

    private static final int MAX_HEADER = MarkerFlyweight.LENGTH + FpduFlyweight.ULPDU_LENGTH_FIELD_LENGTH;

    private final Crc32c crc32c = new Crc32c();
    private final byte[] header = new byte[MAX_HEADER];
    private final MpaTransport transport;
    private final UpperLayer upper;
    private final boolean crc;
    private final boolean markers;

    private long position;
    private int held;
    private int left;
    private int incompleteLength;
    private int partialLength;
    private @Nullable WireBuffer partial;
    private boolean validated;
    private boolean stopped;

    /**
     * @param crc whether CRCs are checked
     * @param markers whether the peer inserts Markers
     * @param position position in the stream where the first FPDU begins, counted as in {@link MarkerFlyweight}
     */
    FpduReader(MpaTransport transport, UpperLayer upper, boolean crc, boolean markers, long position) {
        this.transport = transport;
        this.upper = upper;
        this.crc = crc;
        this.markers = markers;
        this.position = position;
    }

    /** Returns whether at least one FPDU was received and validated. */
    boolean validated() {
        return validated;
    }

    /** Returns whether the input so far ends inside an FPDU. */
    boolean insideFpdu() {
        return held > 0 || left > 0;
    }

    /** Position in the stream where the next FPDU to complete begins, counted as in the constructor. */
    long position() {
        return position;
    }

    /** Bytes at the end of the latest input that were left to the caller. */
    int left() {
        return left;
    }

    /** Length in bytes of the FPDU that begins with the bytes left to the caller. */
    int incompleteLength() {
        return incompleteLength;
    }

    /** Drops the bytes of an incomplete FPDU and ignores further input. */
    void stop() {
        stopped = true;
        held = 0;
        left = 0;
        if (partial != null) {
            transport.releaseReassembly(partial);
            partial = null;
        }
    }

    /**
     * Takes the next bytes of the stream, and may rearrange them in place. After an error the reader has stopped.
     *
     * @param keeps whether the caller keeps the beginning of an FPDU of more than {@link #SHORT} bytes and passes it
     *     again with the bytes that follow
     * @return error in the stream, or null
     */
    @Nullable
    LlpError receive(WireBuffer in, int offset, int length, boolean keeps) {
        left = 0;
        int at = offset;
        int end = offset + length;
        while (at < end && !stopped) {
            int available = end - at;
            if (held == 0 && available >= headerLength()) {
                int fpduLength = fpduLength(FpduFlyweight.ulpduLength(in, at + leadingMarkerLength()));
                if (available >= fpduLength) {
                    LlpError error = pass(in, at, fpduLength);
                    if (error != null) {
                        stop();
                        return error;
                    }
                    at += fpduLength;
                    continue;
                }
                if (keeps && fpduLength > SHORT) {
                    left = available;
                    incompleteLength = fpduLength;
                    return null;
                }
            }
            at += hold(in, at, available);
            if (partial != null && held == partialLength) {
                LlpError error = passPartial(partial);
                if (error != null) {
                    stop();
                    return error;
                }
            }
        }
        return null;
    }

    /**
     * Keeps bytes of an incomplete FPDU: first its header here, then all bytes in a buffer once the length is known.
     */
    private int hold(WireBuffer in, int offset, int available) {
        int taken = 0;
        WireBuffer target = partial;
        if (target == null) {
            int headerLength = headerLength();
            taken = Math.min(available, headerLength - held);
            in.getBytes(offset, header, held, taken);
            held += taken;
            if (held < headerLength) {
                return taken;
            }
            int field = leadingMarkerLength();
            partialLength = fpduLength((header[field] & 0xFF) << 8 | (header[field + 1] & 0xFF));
        }
        int more = Math.min(available - taken, partialLength - held);
        if (target == null) {
            target = transport.acquireReassembly(capacity(held + more));
            target.putBytes(0, header, 0, held);
            partial = target;
        } else if (held + more > target.capacity()) {
            target = transport.growReassembly(target, held, capacity(held + more));
            partial = target;
        }
        target.putBytes(held, in, offset + taken, more);
        held += more;
        return taken + more;
    }

    /** Returns the capacity for the buffer of an incomplete FPDU after the given number of bytes has arrived. */
    private int capacity(int octets) {
        return Math.min(partialLength, Math.max(SHORT, AHEAD * octets));
    }

    private @Nullable LlpError passPartial(WireBuffer whole) {
        partial = null;
        held = 0;
        try {
            return pass(whole, 0, partialLength);
        } finally {
            transport.releaseReassembly(whole);
        }
    }

    /** Verifies the FPDU of the given length and passes its ULPDU up. */
    private @Nullable LlpError pass(WireBuffer buffer, int offset, int length) {
        int crcOffset = offset + length - FpduFlyweight.CRC_FIELD_LENGTH;
        if (crc && crc32c.of(buffer, offset, crcOffset - offset) != FpduFlyweight.crc(buffer, crcOffset)) {
            return LlpError.CRC_MISMATCH;
        }
        int fpdu = offset + leadingMarkerLength();
        int ulpduLength = FpduFlyweight.ulpduLength(buffer, fpdu);
        if (markers && !removeMarkers(buffer, offset, fpdu, offset + length)) {
            return LlpError.MARKER_MISMATCH;
        }
        position += length;
        validated = true;
        upper.onUlpdu(buffer, fpdu + FpduFlyweight.ULPDU_OFFSET, ulpduLength);
        return null;
    }

    /** Checks the Markers of an FPDU and closes their gaps. Returns false if a Marker has a wrong pointer. */
    private boolean removeMarkers(WireBuffer buffer, int offset, int fpdu, int end) {
        if (fpdu != offset && MarkerFlyweight.fpduPtr(buffer, offset) != 0) {
            return false;
        }
        int distance = MarkerFlyweight.distance(position);
        int first = offset + (distance == 0 ? MarkerFlyweight.INTERVAL : distance);
        for (int marker = first; marker < end; marker += MarkerFlyweight.INTERVAL) {
            if (!MarkerFlyweight.pointsBack(buffer, marker, marker - fpdu)) {
                return false;
            }
        }
        int target = first;
        for (int marker = first; marker < end; marker += MarkerFlyweight.INTERVAL) {
            int source = marker + MarkerFlyweight.LENGTH;
            int length = Math.min(MarkerFlyweight.GAP, end - source);
            buffer.putBytes(target, buffer, source, length);
            target += length;
        }
        return true;
    }

    private int headerLength() {
        return leadingMarkerLength() + FpduFlyweight.ULPDU_LENGTH_FIELD_LENGTH;
    }

    private int leadingMarkerLength() {
        return markers && MarkerFlyweight.distance(position) == 0 ? MarkerFlyweight.LENGTH : 0;
    }

    private int fpduLength(int ulpduLength) {
        int plain = FpduFlyweight.length(ulpduLength);
        return markers ? plain + MarkerFlyweight.count(position, plain) * MarkerFlyweight.LENGTH : plain;
    }
}
