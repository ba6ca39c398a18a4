// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.util.Arrays;

/**
 * DDP segments with RDMAP headers, written field by field as in the figures of RFC 5041 section 4 and RFC 5040 section
 * 4. Shares no code with the engine, so that an error of the engine cannot hide here.
 */
public final class Ulpdu {

    /** DDP control: T, L, and DV = 1. */
    public static final int TAGGED_LAST = 0xC1;

    public static final int TAGGED = 0x81;
    public static final int UNTAGGED_LAST = 0x41;
    public static final int UNTAGGED = 0x01;

    /** RDMAP control: RV = 1 and the opcode. */
    public static final int WRITE = 0x40;

    public static final int READ_REQUEST = 0x41;
    public static final int READ_RESPONSE = 0x42;
    public static final int SEND = 0x43;
    public static final int SEND_INVALIDATE = 0x44;
    public static final int SEND_SE = 0x45;
    public static final int SEND_SE_INVALIDATE = 0x46;
    public static final int TERMINATE = 0x47;

    public static final int TAGGED_HEADER = 14;
    public static final int UNTAGGED_HEADER = 18;

    private static final byte[] NOTHING = {};

    private Ulpdu() {}

    public static byte[] tagged(int ddpControl, int rdmapControl, int stag, long to, byte[] payload) {
        return Octets.begin()
                .u8(ddpControl)
                .u8(rdmapControl)
                .u32(stag)
                .u64(to)
                .put(payload)
                .toArray();
    }

    public static byte[] untagged(
            int ddpControl, int rdmapControl, int invalidateStag, int qn, int msn, int mo, byte[] payload) {
        return Octets.begin()
                .u8(ddpControl)
                .u8(rdmapControl)
                .u32(invalidateStag)
                .u32(qn)
                .u32(msn)
                .u32(mo)
                .put(payload)
                .toArray();
    }

    public static byte[] write(int stag, long to, byte[] payload) {
        return tagged(TAGGED_LAST, WRITE, stag, to, payload);
    }

    public static byte[] send(int msn, byte[] payload) {
        return untagged(UNTAGGED_LAST, SEND, 0, 0, msn, 0, payload);
    }

    public static byte[] readRequest(int msn, int sinkStag, long sinkTo, int size, int srcStag, long srcTo) {
        return readRequest(msn, readRequestHeader(sinkStag, sinkTo, size, srcStag, srcTo));
    }

    /** A Read Request whose RDMAP part is as given, of whatever length. */
    public static byte[] readRequest(int msn, byte[] rdmapPart) {
        return untagged(UNTAGGED_LAST, READ_REQUEST, 0, 1, msn, 0, rdmapPart);
    }

    public static byte[] readRequestHeader(int sinkStag, long sinkTo, int size, int srcStag, long srcTo) {
        return Octets.begin()
                .u32(sinkStag)
                .u64(sinkTo)
                .u32(size)
                .u32(srcStag)
                .u64(srcTo)
                .toArray();
    }

    /** The Terminate of an error that names no segment: Local Catastrophic and lower layer errors. */
    public static byte[] terminate(int layerAndType, int code) {
        return terminateMessage(layerAndType, code, 0, NOTHING);
    }

    /** The Terminate that returns the DDP header of a segment: HdrCt M and D. */
    public static byte[] terminate(int layerAndType, int code, byte[] segment) {
        byte[] rest = Octets.begin()
                .u16(segment.length)
                .put(Arrays.copyOf(segment, ddpHeaderLength(segment)))
                .toArray();
        return terminateMessage(layerAndType, code, 0xC0, rest);
    }

    /** The Terminate that returns both headers of a Read Request: HdrCt M, D and R. */
    public static byte[] terminateRead(int layerAndType, int code, byte[] segment) {
        byte[] rest = Octets.begin().u16(segment.length).put(segment).toArray();
        return terminateMessage(layerAndType, code, 0xE0, rest);
    }

    private static byte[] terminateMessage(int layerAndType, int code, int headerControl, byte[] rest) {
        byte[] message = Octets.begin()
                .u8(layerAndType)
                .u8(code)
                .u8(headerControl)
                .u8(0)
                .put(rest)
                .toArray();
        return untagged(UNTAGGED_LAST, TERMINATE, 0, 2, 1, 0, message);
    }

    public static boolean isTagged(byte[] segment) {
        return (segment[0] & 0x80) != 0;
    }

    /** Returns whether the segment is the last of its message. */
    public static boolean isLast(byte[] segment) {
        return (segment[0] & 0x40) != 0;
    }

    /** RDMAP opcode. */
    public static int opcode(byte[] segment) {
        return segment[1] & 0x0F;
    }

    public static byte[] payload(byte[] segment) {
        return Arrays.copyOfRange(segment, ddpHeaderLength(segment), segment.length);
    }

    private static int ddpHeaderLength(byte[] segment) {
        return isTagged(segment) ? TAGGED_HEADER : UNTAGGED_HEADER;
    }
}
