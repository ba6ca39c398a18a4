// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

/**
 * Header of an untagged DDP segment (RFC 5041 section 4.3), 18 bytes.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *                                   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *                                   |T|L| Rsvd  |DV |   RsvdULP     |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                      RsvdULP (4 bytes)                        |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                              QN                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                              MSN                              |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                              MO                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class UntaggedHeaderFlyweight extends DdpHeaderFlyweight {

    public static final int ULP_WORD_OFFSET = 2;
    public static final int QN_OFFSET = 6;
    public static final int MSN_OFFSET = 10;
    public static final int MO_OFFSET = 14;
    /** Bytes of the header. */
    public static final int LENGTH = 18;

    /** Writes the whole header. */
    public void set(boolean last, int version, int ulpControl, int ulpWord, int qn, int msn, int mo) {
        putControl(false, last, version, ulpControl);
        buffer.putInt(offset + ULP_WORD_OFFSET, ulpWord);
        buffer.putInt(offset + QN_OFFSET, qn);
        buffer.putInt(offset + MSN_OFFSET, msn);
        buffer.putInt(offset + MO_OFFSET, mo);
    }

    /** ULP-reserved bytes 2 to 5, which carry the STag to invalidate in RDMAP. */
    public int ulpWord() {
        return buffer.getInt(offset + ULP_WORD_OFFSET);
    }

    /** Queue number, unsigned. */
    public int qn() {
        return buffer.getInt(offset + QN_OFFSET);
    }

    /** Message sequence number, modulo 2^32. */
    public int msn() {
        return buffer.getInt(offset + MSN_OFFSET);
    }

    /** Message offset, 0 to 2^32 - 1. */
    public long mo() {
        return buffer.getInt(offset + MO_OFFSET) & 0xFFFF_FFFFL;
    }
}
