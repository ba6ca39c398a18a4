// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Outbound half of Full Operation: makes an FPDU of a ULPDU that stands at its place in the output buffer already (RFC
 * 5044 sections 4.1 to 4.4). Allocates nothing.
 */
final class FpduWriter {

    private final Crc32c crc32c = new Crc32c();
    private final boolean crc;
    private final boolean markers;
    private long position;

    /**
     * @param crc whether the CRC field is computed, or zero
     * @param markers whether Markers are inserted
     * @param position where in the stream the first FPDU begins, counted as {@link MarkerFlyweight} says
     */
    FpduWriter(boolean crc, boolean markers, long position) {
        this.crc = crc;
        this.markers = markers;
        this.position = position;
    }

    /** Bytes of the next FPDU with everything around a ULPDU of the given length. */
    int fpduLength(int ulpduLength) {
        int plain = FpduFlyweight.length(ulpduLength);
        return markers ? plain + MarkerFlyweight.count(position, plain) * MarkerFlyweight.LENGTH : plain;
    }

    /** Bytes of the next FPDU in front of its ULPDU's first byte. */
    int ulpduOffset() {
        return leadingMarkerLength() + FpduFlyweight.ULPDU_OFFSET;
    }

    /**
     * Completes the FPDU that begins at the offset, around a ULPDU that stands contiguously at {@link #ulpduOffset()}.
     *
     * @return bytes of the FPDU
     */
    int write(WireBuffer buffer, int offset, int ulpduLength) {
        int length = fpduLength(ulpduLength);
        int header = offset + leadingMarkerLength();
        FpduFlyweight.ulpduLength(buffer, header, ulpduLength);
        FpduFlyweight.pad(buffer, header, ulpduLength);
        if (markers) {
            insertMarkers(buffer, offset, header, FpduFlyweight.length(ulpduLength));
        }
        int crcOffset = offset + length - FpduFlyweight.CRC_FIELD_LENGTH;
        FpduFlyweight.crc(buffer, crcOffset, crc ? crc32c.of(buffer, offset, crcOffset - offset) : 0);
        position += length;
        return length;
    }

    /**
     * Moves the bytes behind each Marker to where they belong, the last ones first, so that nothing is overwritten and
     * each byte is moved at most once.
     */
    private void insertMarkers(WireBuffer buffer, int offset, int header, int plainLength) {
        if (header != offset) {
            MarkerFlyweight.put(buffer, offset, 0);
        }
        int firstGap = offset + firstMarkerInside() - header;
        if (plainLength <= firstGap) {
            return;
        }
        int end = header + plainLength;
        for (int marker = (plainLength - firstGap - 1) / MarkerFlyweight.GAP; marker >= 0; marker--) {
            int source = header + firstGap + marker * MarkerFlyweight.GAP;
            int target = source + (marker + 1) * MarkerFlyweight.LENGTH;
            buffer.putBytes(target, buffer, source, end - source);
            MarkerFlyweight.put(buffer, target - MarkerFlyweight.LENGTH, target - MarkerFlyweight.LENGTH - header);
            end = source;
        }
    }

    private int leadingMarkerLength() {
        return markers && MarkerFlyweight.distance(position) == 0 ? MarkerFlyweight.LENGTH : 0;
    }

    private int firstMarkerInside() {
        int distance = MarkerFlyweight.distance(position);
        return distance == 0 ? MarkerFlyweight.INTERVAL : distance;
    }
}
