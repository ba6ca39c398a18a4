// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Common part of the tagged and the untagged header: the DDP Control byte and the first ULP-reserved byte (RFC 5041
 * section 4.1). Lies over a buffer and owns no memory.
 *
 * <pre>
 *    0                   1
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |T|L| Rsvd  |DV |   RsvdULP     |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public abstract sealed class DdpHeaderFlyweight permits TaggedHeaderFlyweight, UntaggedHeaderFlyweight {

    /** Tagged flag. */
    public static final int TAGGED_FLAG = 0x80;
    /** Last flag. */
    public static final int LAST_FLAG = 0x40;
    /** DDP Version. */
    public static final int VERSION_MASK = 0x03;

    /** Offset of the DDP Control byte. */
    public static final int CONTROL_OFFSET = 0;
    /** Offset of the first ULP-reserved byte. */
    public static final int ULP_CONTROL_OFFSET = 1;

    private static final WireBuffer NOTHING = WireBuffer.allocate(0);

    /** Buffer that holds the header. */
    protected WireBuffer buffer = NOTHING;
    /** Offset of the header's first byte in the buffer. */
    protected int offset;

    /** Lays this flyweight over a buffer. */
    public void wrap(WireBuffer newBuffer, int newOffset) {
        buffer = newBuffer;
        offset = newOffset;
    }

    /** Returns a new flyweight over a segment, or null when the segment is shorter than its header. */
    public static @Nullable DdpHeaderFlyweight of(WireBuffer segment, int offset, int length) {
        boolean tagged = length > 0 && isTagged(segment.getUnsignedByte(offset));
        if (length < (tagged ? TaggedHeaderFlyweight.LENGTH : UntaggedHeaderFlyweight.LENGTH)) {
            return null;
        }
        DdpHeaderFlyweight header = tagged ? new TaggedHeaderFlyweight() : new UntaggedHeaderFlyweight();
        header.wrap(segment, offset);
        return header;
    }

    /** True when a DDP Control byte, the first byte of a segment, announces a tagged header. */
    public static boolean isTagged(int control) {
        return (control & TAGGED_FLAG) != 0;
    }

    /** Returns the buffer that holds the header. */
    public WireBuffer buffer() {
        return buffer;
    }

    /** Offset of the header's first byte in {@link #buffer()}. */
    public int offset() {
        return offset;
    }

    /** Returns the DDP Control byte. */
    public int control() {
        return buffer.getUnsignedByte(offset + CONTROL_OFFSET);
    }

    /** L flag: true for the last segment of its message. */
    public boolean last() {
        return (control() & LAST_FLAG) != 0;
    }

    /** DV field: version of DDP. */
    public int version() {
        return control() & VERSION_MASK;
    }

    /** Returns the ULP-reserved byte, which RDMAP uses as its Control Field. */
    public int ulpControl() {
        return buffer.getUnsignedByte(offset + ULP_CONTROL_OFFSET);
    }

    /** Writes the DDP Control byte with reserved bits zero, and the ULP-reserved byte. */
    protected void putControl(boolean tagged, boolean last, int version, int ulpControl) {
        buffer.putByte(
                offset + CONTROL_OFFSET,
                (tagged ? TAGGED_FLAG : 0) | (last ? LAST_FLAG : 0) | (version & VERSION_MASK));
        buffer.putByte(offset + ULP_CONTROL_OFFSET, ulpControl);
    }
}
