// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.CreateConnectionFields;
import io.sidewarp.ring.ControlRecord.DisconnectFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.OpenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.ControlRecord.SharedReceiveFields;
import io.sidewarp.ring.RingRecord;
import org.jspecify.annotations.Nullable;

/** Requests of a client, with the layout of each. */
enum Request {
    OPEN(ControlRecord.OPEN, OpenFields.LENGTH, 16, 80),
    MEMORY(ControlRecord.MEMORY, RingRecord.HEADER),
    ALLOCATE_DOMAIN(ControlRecord.ALLOCATE_DOMAIN, RingRecord.HEADER),
    DEALLOCATE_DOMAIN(ControlRecord.DEALLOCATE_DOMAIN, ObjectFields.LENGTH, 16, 24),
    REGISTER(ControlRecord.REGISTER, RegionFields.LENGTH, 16, 320),
    DEREGISTER(ControlRecord.DEREGISTER, ObjectFields.LENGTH, 16, 24),
    CREATE_COMPLETION_RING(ControlRecord.CREATE_COMPLETION_RING, RingFields.COMPLETION_LENGTH, 16, 20),
    CREATE_WORK_RING(ControlRecord.CREATE_WORK_RING, RingFields.WORK_LENGTH, 16, 32),
    DESTROY_RING(ControlRecord.DESTROY_RING, ObjectFields.LENGTH, 16, 24),
    CREATE_SHARED_RECEIVE_QUEUE(ControlRecord.CREATE_SHARED_RECEIVE_QUEUE, SharedReceiveFields.LENGTH, 16, 32),
    MODIFY_SHARED_RECEIVE_QUEUE(ControlRecord.MODIFY_SHARED_RECEIVE_QUEUE, SharedReceiveFields.LENGTH, 16, 28),
    DESTROY_SHARED_RECEIVE_QUEUE(ControlRecord.DESTROY_SHARED_RECEIVE_QUEUE, ObjectFields.LENGTH, 16, 24),
    CREATE_CONNECTION(ControlRecord.CREATE_CONNECTION, CreateConnectionFields.LENGTH, 16, 40),
    LISTEN(ControlRecord.LISTEN, ListenFields.LENGTH, 16, 40),
    CLOSE_LISTENER(ControlRecord.CLOSE_LISTENER, ObjectFields.LENGTH, 16, 24),
    CONNECT(ControlRecord.CONNECT, SetupFields.PRIVATE_DATA_OFFSET, 16, 68),
    ACCEPT(ControlRecord.ACCEPT, SetupFields.PRIVATE_DATA_OFFSET, 16, 40, 56, 68),
    REJECT(ControlRecord.REJECT, SetupFields.PRIVATE_DATA_OFFSET, 32, 40, 64, 68),
    DISCONNECT(ControlRecord.DISCONNECT, DisconnectFields.LENGTH, 16, 36);

    /** Alignment of the end of a record, which may have bytes of padding. */
    private static final int ALIGNMENT = 8;

    private static final Request[] BY_NUMBER = new Request[ControlRecord.DISCONNECT + 1];

    static {
        for (Request request : values()) {
            BY_NUMBER[request.number] = request;
        }
    }

    private final int number;
    private final int length;
    /** Never changes. */
    @SuppressWarnings("ImmutableEnumChecker")
    private final int[] fields;

    /**
     * @param length length of the record without private data
     * @param fields begin and end of the ranges with fields, behind the header
     */
    Request(int number, int length, int... fields) {
        this.number = number;
        this.length = length;
        this.fields = fields;
    }

    /** Returns the request of a type; null for an unknown type. */
    static @Nullable Request of(int type) {
        return type < BY_NUMBER.length ? BY_NUMBER[type] : null;
    }

    private boolean hasPrivateData() {
        return length == SetupFields.PRIVATE_DATA_OFFSET;
    }

    /**
     * Checks the length of a record, and that bytes without a field are zero.
     *
     * @throws BadRecordException if the record breaks the layout
     */
    void check(RecordReader record) {
        int end = length;
        if (hasPrivateData()) {
            if (record.length() < length) {
                throw wrongLength(record.length(), "at least " + length);
            }
            int data = record.getInt(SetupFields.PRIVATE_LENGTH_OFFSET);
            if (data < 0 || data > record.length() - length) {
                throw new BadRecordException(this + " has private_length " + Integer.toUnsignedString(data)
                        + ", but the record has " + (record.length() - length) + " bytes of private data");
            }
            end += data;
        }
        int padded = end + ALIGNMENT - 1 & -ALIGNMENT;
        if (record.length() != end && record.length() != padded) {
            throw wrongLength(record.length(), String.valueOf(end));
        }
        int from = RingRecord.HEADER;
        for (int i = 0; i < fields.length; i += 2) {
            checkZero(record, from, fields[i]);
            from = fields[i + 1];
        }
        checkZero(record, from, length);
        checkZero(record, end, record.length());
    }

    private void checkZero(RecordReader record, int from, int to) {
        for (int at = from; at < to; at++) {
            if (record.getByte(at) != 0) {
                throw new BadRecordException(
                        this + " has a byte other than 0 at " + at + ", where it has no field; set it to 0");
            }
        }
    }

    private BadRecordException wrongLength(int actual, String expected) {
        return new BadRecordException(this + " has length " + actual + "; expected " + expected);
    }
}
