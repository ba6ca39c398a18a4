// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads the protocol buffers encoding of an array without making objects. A malformed encoding throws
 * {@link MalformedMessage}; nothing beyond the limit is ever read. Not thread-safe.
 */
final class ProtoReader {

    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH_DELIMITED = 2;
    static final int FIXED32 = 5;

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] data = {};
    private int position;
    private int limit;

    /** Begins with the given octets. */
    void begin(byte[] newData, int newLimit) {
        data = newData;
        position = 0;
        limit = newLimit;
    }

    boolean hasMore() {
        return position < limit;
    }

    int position() {
        return position;
    }

    int limit() {
        return limit;
    }

    byte[] array() {
        return data;
    }

    /**
     * Goes into a length-delimited field: reads end where it ends.
     *
     * @return the limit so far, for {@link #leave}
     */
    int enter() {
        int length = length();
        int outer = limit;
        limit = position + length;
        return outer;
    }

    /** Goes out of a field that {@link #enter} went into, past its end. */
    void leave(int outer) {
        position = limit;
        limit = outer;
    }

    /** A tag: the field's number and, in the low three bits, its type. */
    int tag() {
        long tag = varint();
        if (tag >>> 3 == 0 || tag >>> 32 != 0) {
            throw new MalformedMessage("invalid tag");
        }
        return (int) tag;
    }

    long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (position == limit) {
                throw new MalformedMessage("truncated");
            }
            byte octet = data[position++];
            value |= (long) (octet & 0x7F) << shift;
            if (octet >= 0) {
                return value;
            }
        }
        throw new MalformedMessage("varint too long");
    }

    boolean bool() {
        return varint() != 0;
    }

    int fixed32() {
        if (limit - position < Integer.BYTES) {
            throw new MalformedMessage("truncated");
        }
        int value = (int) INT.get(data, position);
        position += Integer.BYTES;
        return value;
    }

    long fixed64() {
        if (limit - position < Long.BYTES) {
            throw new MalformedMessage("truncated");
        }
        long value = (long) LONG.get(data, position);
        position += Long.BYTES;
        return value;
    }

    /** Skips the value of a field that is not known. */
    void skip(int tag) {
        switch (tag & 7) {
            case VARINT -> varint();
            case FIXED64 -> advance(Long.BYTES);
            case LENGTH_DELIMITED -> advance(length());
            case FIXED32 -> advance(Integer.BYTES);
            default -> throw new MalformedMessage("unknown wire type");
        }
    }

    private int length() {
        long length = varint();
        if (length < 0 || length > limit - position) {
            throw new MalformedMessage("truncated");
        }
        return (int) length;
    }

    private void advance(int octets) {
        if (octets > limit - position) {
            throw new MalformedMessage("truncated");
        }
        position += octets;
    }

    /** The octets are no message of the expected kind. Without a stack trace: a caller can send any number of them. */
    static final class MalformedMessage extends RuntimeException {

        private static final long serialVersionUID = 1L;

        MalformedMessage(String message) {
            super("malformed message: " + message, null, false, false);
        }
    }
}
