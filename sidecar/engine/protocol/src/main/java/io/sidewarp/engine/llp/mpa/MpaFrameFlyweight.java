// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.memory.WireBuffer;
import java.nio.charset.StandardCharsets;

/**
 * MPA Request and Reply Frame (RFC 5044 section 7.1.1, Figure 8; flag S: RFC 6581 section 6).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |                                                               |
 *   +              Key: 16 bytes, "MPA ID Req Frame"                +
 *  |                        or "MPA ID Rep Frame"                  |
 *  +                                                               +
 *  |                                                               |
 *  +                                                               +
 *  |                                                               |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |M|C|R|S|  Res  |      Rev      |           PD_Length           |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   ~                   Private Data, 0 to 512 bytes                ~
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class MpaFrameFlyweight {

    /** Bytes before the Private Data. */
    public static final int HEADER_LENGTH = 20;

    public static final int KEY_FIELD_OFFSET = 0;
    public static final int KEY_LENGTH = 16;
    public static final int FLAGS_FIELD_OFFSET = 16;
    public static final int REV_FIELD_OFFSET = 17;
    public static final int PD_LENGTH_FIELD_OFFSET = 18;
    public static final int PRIVATE_DATA_FIELD_OFFSET = HEADER_LENGTH;

    /** Maximum length of the Private Data of a frame, in bytes. */
    public static final int MAX_PD_LENGTH = 512;

    /** The largest frame, in bytes. */
    public static final int MAX_LENGTH = HEADER_LENGTH + MAX_PD_LENGTH;

    private static final int M_FLAG = 0x80;
    private static final int C_FLAG = 0x40;
    private static final int R_FLAG = 0x20;
    private static final int S_FLAG = 0x10;
    private static final int RES_MASK = 0x0F;

    private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

    private static final WireBuffer NO_BUFFER = WireBuffer.allocate(0);

    private WireBuffer buffer = NO_BUFFER;
    private int offset;

    /** Lays this flyweight over a frame that begins at the offset. */
    public MpaFrameFlyweight wrap(WireBuffer newBuffer, int newOffset) {
        this.buffer = newBuffer;
        this.offset = newOffset;
        return this;
    }

    /** Returns whether the given number of first bytes, at most 16, matches the Key of a Request. */
    public boolean isRequestKey(int octets) {
        return isKey(REQUEST_KEY, octets);
    }

    /** Returns whether the given number of first bytes, at most 16, matches the Key of a Reply. */
    public boolean isReplyKey(int octets) {
        return isKey(REPLY_KEY, octets);
    }

    /** Writes the Key of a Request. */
    public MpaFrameFlyweight requestKey() {
        buffer.putBytes(offset + KEY_FIELD_OFFSET, REQUEST_KEY, 0, KEY_LENGTH);
        return this;
    }

    /** Writes the Key of a Reply. */
    public MpaFrameFlyweight replyKey() {
        buffer.putBytes(offset + KEY_FIELD_OFFSET, REPLY_KEY, 0, KEY_LENGTH);
        return this;
    }

    /** M flag: the sender of this frame requires Markers in its input. */
    public boolean m() {
        return flag(M_FLAG);
    }

    public MpaFrameFlyweight m(boolean value) {
        return flag(M_FLAG, value);
    }

    /** C flag: the sender of this frame requires CRCs. */
    public boolean c() {
        return flag(C_FLAG);
    }

    public MpaFrameFlyweight c(boolean value) {
        return flag(C_FLAG, value);
    }

    /** R flag: the connection is rejected, in a Reply. */
    public boolean r() {
        return flag(R_FLAG);
    }

    public MpaFrameFlyweight r(boolean value) {
        return flag(R_FLAG, value);
    }

    /** S flag: the Private Data begins with {@link EnhancedData}. Reserved in revision 1. */
    public boolean s() {
        return flag(S_FLAG);
    }

    public MpaFrameFlyweight s(boolean value) {
        return flag(S_FLAG, value);
    }

    /** Res field: the four reserved bits after S. */
    public int res() {
        return buffer.getUnsignedByte(offset + FLAGS_FIELD_OFFSET) & RES_MASK;
    }

    public MpaFrameFlyweight res(int value) {
        int flags = buffer.getUnsignedByte(offset + FLAGS_FIELD_OFFSET) & ~RES_MASK;
        buffer.putByte(offset + FLAGS_FIELD_OFFSET, flags | (value & RES_MASK));
        return this;
    }

    /** Rev field: revision of MPA. */
    public int rev() {
        return buffer.getUnsignedByte(offset + REV_FIELD_OFFSET);
    }

    public MpaFrameFlyweight rev(int value) {
        buffer.putByte(offset + REV_FIELD_OFFSET, value);
        return this;
    }

    /** PD_Length field: bytes of Private Data. */
    public int pdLength() {
        return buffer.getUnsignedShort(offset + PD_LENGTH_FIELD_OFFSET);
    }

    /** Returns a copy of the Private Data from the given byte on. */
    public byte[] privateData(int from) {
        byte[] data = new byte[pdLength() - from];
        buffer.getBytes(offset + PRIVATE_DATA_FIELD_OFFSET + from, data, 0, data.length);
        return data;
    }

    /** Writes PD_Length, and the Private Data after the given number of bytes that belong to the protocol. */
    public MpaFrameFlyweight privateData(int from, byte[] data) {
        buffer.putShort(offset + PD_LENGTH_FIELD_OFFSET, from + data.length);
        buffer.putBytes(offset + PRIVATE_DATA_FIELD_OFFSET + from, data, 0, data.length);
        return this;
    }

    /** Returns 32 bits of the Private Data that belong to the protocol, for instance enhanced data. */
    public int privateDataWord(int from) {
        return buffer.getInt(offset + PRIVATE_DATA_FIELD_OFFSET + from);
    }

    public MpaFrameFlyweight privateDataWord(int from, int word) {
        buffer.putInt(offset + PRIVATE_DATA_FIELD_OFFSET + from, word);
        return this;
    }

    /** Returns whether the Private Data begins with enhanced data. S counts from revision 2 on (RFC 6581 section 6). */
    public boolean isEnhanced() {
        return s() && rev() >= 2;
    }

    /** Bytes of the whole frame. */
    public int length() {
        return HEADER_LENGTH + pdLength();
    }

    private boolean isKey(byte[] key, int octets) {
        for (int i = 0; i < Math.min(octets, KEY_LENGTH); i++) {
            if (buffer.getUnsignedByte(offset + KEY_FIELD_OFFSET + i) != key[i]) {
                return false;
            }
        }
        return true;
    }

    private boolean flag(int mask) {
        return (buffer.getUnsignedByte(offset + FLAGS_FIELD_OFFSET) & mask) != 0;
    }

    private MpaFrameFlyweight flag(int mask, boolean value) {
        int flags = buffer.getUnsignedByte(offset + FLAGS_FIELD_OFFSET) & ~mask;
        buffer.putByte(offset + FLAGS_FIELD_OFFSET, value ? flags | mask : flags);
        return this;
    }
}
