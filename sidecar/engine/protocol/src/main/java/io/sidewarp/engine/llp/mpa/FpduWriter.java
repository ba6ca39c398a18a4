// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Outbound half of Full Operation. Builds an FPDU around a ULPDU that is already at its place in the output buffer (RFC
 * 5044 sections 4.1 to 4.4). Allocates nothing.
 */
final class FpduWriter {

    private final Crc32c crc32c = new Crc32c();
    private final boolean crc;
    private final boolean markers;
    private long position;

    /**
     * @param crc whether the CRC field is computed; the field is zero otherwise
     * @param markers whether Markers are inserted
     * @param position position in the stream where the first FPDU begins, counted as in {@link MarkerFlyweight}
     */
    FpduWriter(boolean crc, boolean markers, long position) {
        this.crc = crc;
        this.markers = markers;
        this.position = position;
    }

    /** Returns the length in bytes of the next FPDU with a ULPDU of the given length. */
    int fpduLength(int ulpduLength) {
        int plain = FpduFlyweight.length(ulpduLength);
        return markers ? plain + MarkerFlyweight.count(position, plain) * MarkerFlyweight.LENGTH : plain;
    }

    /** Bytes of the next FPDU before the first byte of its ULPDU. */
    int ulpduOffset() {
        return leadingMarkerLength() + FpduFlyweight.ULPDU_OFFSET;
    }

    /**
     * Completes the FPDU at the offset, around a contiguous ULPDU at {@link #ulpduOffset()}.
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
     * Moves the bytes after each Marker to their final place. The last bytes move first, so that no byte is overwritten
     * and each byte moves at most once.
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
