// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

/**
 * Header of a tagged DDP segment (RFC 5041 section 4.2), 14 bytes.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *                                   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *                                   |T|L| Rsvd  |DV |   RsvdULP     |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                             STag                              |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                              TO                               |
 *   +                                                               +
 *   |                                                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class TaggedHeaderFlyweight extends DdpHeaderFlyweight {

    public static final int STAG_OFFSET = 2;
    public static final int TO_OFFSET = 6;
    /** Bytes of the header. */
    public static final int LENGTH = 14;

    /** Writes the whole header. */
    public void set(boolean last, int version, int ulpControl, int stag, long to) {
        putControl(true, last, version, ulpControl);
        buffer.putInt(offset + STAG_OFFSET, stag);
        buffer.putLong(offset + TO_OFFSET, to);
    }

    public int stag() {
        return buffer.getInt(offset + STAG_OFFSET);
    }

    /** Tagged offset, unsigned. */
    public long to() {
        return buffer.getLong(offset + TO_OFFSET);
    }
}
