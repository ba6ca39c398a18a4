// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

/** The largest ULPDU for a connection (RFC 5044 sections 3 and 4.5). */
final class Mulpdu {

    static final int MIN = 128;
    static final int MAX = FpduFlyweight.MAX_ULPDU_LENGTH;

    private static final int OVERHEAD = FpduFlyweight.ULPDU_LENGTH_FIELD_LENGTH + FpduFlyweight.CRC_FIELD_LENGTH;

    private Mulpdu() {}

    /**
     * Returns the size in bytes of the largest ULPDU whose FPDU fits into one segment, within the range that section 3
     * allows.
     *
     * @param emss bytes that a segment can hold
     * @param markers whether Markers are inserted; their worst-case number is assumed
     */
    static int of(int emss, boolean markers) {
        int mulpdu = emss - (OVERHEAD + emss % FpduFlyweight.ALIGNMENT);
        if (markers) {
            mulpdu -= MarkerFlyweight.LENGTH * Math.ceilDiv(emss, MarkerFlyweight.INTERVAL);
        }
        return Math.clamp(mulpdu, MIN, MAX);
    }
}
