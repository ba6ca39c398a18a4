// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueueOpened;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.WorkCompletion;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;

/**
 * A QueueResponse under construction: completions are encoded when they arrive, and the octets are copied once, to the
 * transport. Used again after it was sent: no allocation per completion once warm, unless it was large. Not thread-safe.
 */
final class CompletionBatch {

    /**
     * gRPC takes the octets while sendMessage runs, so that the batch may be used again afterwards; a test of the service
     * holds that. The other direction is not used here.
     */
    static final MethodDescriptor.Marshaller<CompletionBatch> MARSHALLER = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(CompletionBatch batch) {
            return new Octets(batch);
        }

        @Override
        public CompletionBatch parse(InputStream stream) {
            throw new UnsupportedOperationException("responses are only sent");
        }
    };

    private static final int VARINT = ProtoReader.VARINT;
    private static final int ID = WorkCompletion.ID_FIELD_NUMBER << 3 | VARINT;
    private static final int CONNECTION = WorkCompletion.CONNECTION_FIELD_NUMBER << 3 | VARINT;
    private static final int OPCODE = WorkCompletion.OPCODE_FIELD_NUMBER << 3 | VARINT;
    private static final int STATUS = WorkCompletion.STATUS_FIELD_NUMBER << 3 | VARINT;
    private static final int LENGTH = WorkCompletion.LENGTH_FIELD_NUMBER << 3 | VARINT;
    private static final int SOLICITED = WorkCompletion.SOLICITED_FIELD_NUMBER << 3 | VARINT;
    private static final int INVALIDATED = WorkCompletion.INVALIDATED_STAG_FIELD_NUMBER << 3 | ProtoReader.FIXED32;
    private static final int IMMEDIATE = WorkCompletion.IMMEDIATE_FIELD_NUMBER << 3 | ProtoReader.FIXED64;
    private static final int ORIGINAL = WorkCompletion.ORIGINAL_FIELD_NUMBER << 3 | ProtoReader.FIXED64;
    private static final int ENTRY = QueueCompletions.COMPLETIONS_FIELD_NUMBER << 3 | ProtoReader.LENGTH_DELIMITED;
    private static final int COMPLETIONS = QueueResponse.COMPLETIONS_FIELD_NUMBER << 3 | ProtoReader.LENGTH_DELIMITED;
    private static final int OPENED = QueueResponse.OPENED_FIELD_NUMBER << 3 | ProtoReader.LENGTH_DELIMITED;

    /** Largest encoding of a completion without error and text, its tag and length included; its length fits an octet. */
    private static final int MAX_PLAIN = 64;
    /** A tag and the longest length before the entries. */
    private static final int HEAD = 6;

    private static final int SUCCESS = io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS_VALUE;

    private static final int INITIAL_CAPACITY = 512;
    /** Octets that a batch keeps after it was sent, so that many calls that wait do not hold much. */
    private static final int MAX_KEPT = 2 * 1024;

    private byte[] data = new byte[INITIAL_CAPACITY];
    private int begin = HEAD;
    private int end = HEAD;
    private int count;

    /** Completions in it. */
    int count() {
        return count;
    }

    /** Octets of them. */
    int octets() {
        return end - HEAD;
    }

    /** Octets that it holds for completions, used or not, if that is more than it keeps. */
    int excess() {
        return data.length > MAX_KEPT ? data.length : 0;
    }

    void clear() {
        if (data.length > MAX_KEPT) {
            data = new byte[INITIAL_CAPACITY];
        }
        begin = HEAD;
        end = HEAD;
        count = 0;
    }

    /** A batch that holds the first response of a call. */
    static CompletionBatch opened(int credits) {
        byte[] opened = QueueOpened.newBuilder().setCredits(credits).build().toByteArray();
        CompletionBatch batch = new CompletionBatch();
        batch.head(OPENED, opened.length);
        System.arraycopy(opened, 0, batch.data, batch.end, opened.length);
        batch.end += opened.length;
        return batch;
    }

    /**
     * Adds a successful completion.
     *
     * @param id the caller's
     * @param completion the engine's
     */
    void add(long id, long connection, io.sidewarp.engine.verbs.WorkCompletion completion) {
        Opcode opcode = completion.opcode();
        ensure(MAX_PLAIN);
        data[end] = ENTRY;
        int start = end + 2;
        end = start;
        varint(ID, id);
        varint(CONNECTION, connection);
        varint(OPCODE, Completions.opcode(opcode).getNumber());
        varint(STATUS, SUCCESS);
        varint(LENGTH, completion.length());
        varint(SOLICITED, completion.isSolicited() ? 1 : 0);
        if (completion.isInvalidated()) {
            fixed(INVALIDATED, completion.invalidatedStag(), Integer.SIZE);
        }
        if (completion.isImmediate()) {
            fixed(IMMEDIATE, completion.result(), Long.SIZE);
        } else if (opcode.isAtomic()) {
            fixed(ORIGINAL, completion.result(), Long.SIZE);
        }
        data[start - 1] = (byte) (end - start);
        count++;
    }

    /** Adds a completion with an error or a text. */
    void add(WorkCompletion completion) {
        byte[] octets = completion.toByteArray();
        ensure(HEAD + octets.length);
        data[end++] = ENTRY;
        rawVarint(octets.length);
        System.arraycopy(octets, 0, data, end, octets.length);
        end += octets.length;
        count++;
    }

    /** Finishes the message: puts what comes before the completions. */
    void seal() {
        head(COMPLETIONS, end - HEAD);
    }

    private void head(int tag, int length) {
        int at = HEAD - 1 - varintLength(length);
        begin = at;
        data[at++] = (byte) tag;
        int rest = length;
        while (rest >= 0x80) {
            data[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        data[at] = (byte) rest;
    }

    /** Writes nothing for 0, the default. */
    private void varint(int tag, long value) {
        if (value != 0) {
            data[end++] = (byte) tag;
            rawVarint(value);
        }
    }

    /** Least significant octet first. */
    private void fixed(int tag, long value, int bits) {
        data[end++] = (byte) tag;
        for (int shift = 0; shift < bits; shift += Byte.SIZE) {
            data[end++] = (byte) (value >>> shift);
        }
    }

    private void rawVarint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            data[end++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        data[end++] = (byte) rest;
    }

    private static int varintLength(int value) {
        return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }

    private void ensure(int more) {
        if (data.length - end < more) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, end + more));
        }
    }

    /** The octets on their way into the transport's buffer. */
    private static final class Octets extends ByteArrayInputStream implements KnownLength, Drainable {

        Octets(CompletionBatch batch) {
            super(batch.data, batch.begin, batch.end - batch.begin);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int length = count - pos;
            target.write(buf, pos, length);
            pos = count;
            return length;
        }
    }
}
