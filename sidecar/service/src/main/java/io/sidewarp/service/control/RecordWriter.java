// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import io.netty.util.NetUtil;
import io.sidewarp.ring.RingRecord;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A record to the client. Fields that nobody sets are zero. */
final class RecordWriter {

    private static final int IPV4_LENGTH = 4;
    /** Offset of an IPv4 address in its mapped form, behind two bytes of ones (RFC 4291 section 2.5.5.2). */
    private static final int MAPPED_OFFSET = 12;

    private final ByteBuffer record;

    RecordWriter(int type, long value, int length) {
        record = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        RingRecord.header(record, 0, length, type, value);
    }

    RecordWriter setByte(int at, int value) {
        record.put(at, (byte) value);
        return this;
    }

    RecordWriter setInt(int at, int value) {
        record.putInt(at, value);
        return this;
    }

    RecordWriter setLong(int at, long value) {
        record.putLong(at, value);
        return this;
    }

    RecordWriter setBytes(int at, ByteString bytes) {
        bytes.copyTo(record.array(), at);
        return this;
    }

    /** Writes a string that zeros pad. A text that is too long loses its end. */
    RecordWriter setString(int at, int size, String text) {
        return setBytes(at, text(text, size));
    }

    /** @param address IP address in digits, with or without a zone; empty: zeros */
    RecordWriter setAddress(int at, String address) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
        if (bytes != null && bytes.length == IPV4_LENGTH) {
            record.putShort(at + MAPPED_OFFSET - Short.BYTES, (short) -1).put(at + MAPPED_OFFSET, bytes);
        } else if (bytes != null) {
            record.put(at, bytes);
        }
        return this;
    }

    /** Returns a text in UTF-8 whose last characters are left out where it is too long. */
    static ByteString text(String text, int limit) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, limit);
        while (length > 0 && length < bytes.length && (bytes[length] & 0xC0) == 0x80) {
            length--;
        }
        return ByteString.copyFrom(bytes, 0, length);
    }

    /** Returns the record, ready to be read. */
    ByteBuffer toBuffer() {
        return record;
    }
}
