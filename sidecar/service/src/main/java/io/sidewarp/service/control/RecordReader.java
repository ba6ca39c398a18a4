// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.RingRecord;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Fields of a request. The bytes are a copy, which the client cannot change. */
final class RecordReader {

    private final ByteBuffer record;

    /** @param record whole record, in native byte order */
    RecordReader(ByteBuffer record) {
        this.record = record;
    }

    int length() {
        return record.limit();
    }

    long value() {
        return record.getLong(RingRecord.VALUE_OFFSET);
    }

    int getByte(int at) {
        return record.get(at);
    }

    int getInt(int at) {
        return record.getInt(at);
    }

    long getLong(int at) {
        return record.getLong(at);
    }

    /** Returns a string that zeros pad. */
    String getString(String field, int at, int size) {
        int length = 0;
        while (length < size && record.get(at + length) != 0) {
            length++;
        }
        for (int i = length; i < size; i++) {
            if (record.get(at + i) != 0) {
                throw new BadRecordException(
                        field + " has a byte other than 0 behind its first 0, at " + (at + i) + "; pad it with zeros");
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(record.slice(at, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BadRecordException(field + " is no UTF-8");
        }
    }

    /** Returns an address, which is an IPv4 address if its field has the mapped form. */
    InetAddress getAddress(int at) {
        byte[] address = new byte[ControlRecord.ADDRESS_LENGTH];
        record.get(at, address);
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns bytes whose number the table of requests has checked. */
    ByteString getBytes(int at, int length) {
        return ByteString.copyFrom(record.slice(at, length));
    }
}
