// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Objects;

/**
 * One QueueRequest in its encoded form: work requests are encoded where they are posted, from parts that were encoded
 * when the request was made, so that posting costs two copies of a few octets and no objects. Used again once gRPC has
 * taken the octets.
 */
final class PostFrame extends InputStream implements KnownLength, Drainable {

    /** A frame that has grown to this takes no further work request; far below gRPC's limit of 4 MiB. */
    static final int FULL = 64 << 10;

    private static final int LENGTH_DELIMITED = 2;
    private static final int POST_TAG = QueueRequest.POST_FIELD_NUMBER << 3 | LENGTH_DELIMITED;
    private static final int WORK_TAG = QueuePost.WORK_FIELD_NUMBER << 3 | LENGTH_DELIMITED;
    private static final int ID_TAG = io.sidewarp.v1.WorkRequest.ID_FIELD_NUMBER << 3;

    /** Room for the tag and the length of QueueRequest.post, which are known last. */
    private static final int HEAD = 6;

    private byte[] octets = new byte[512];
    private int begin = HEAD;
    private int end = HEAD;

    /** A frame that opens a queue. */
    static PostFrame of(QueueOpen open) {
        PostFrame frame = new PostFrame();
        frame.octets = QueueRequest.newBuilder().setOpen(open).build().toByteArray();
        frame.begin = 0;
        frame.end = frame.octets.length;
        return frame;
    }

    boolean isFull() {
        return end >= FULL;
    }

    void clear() {
        begin = HEAD;
        end = HEAD;
    }

    /** Adds a work request: the id, then the fields that were encoded before. */
    void add(int id, byte[] fields) {
        int length = 1 + varintLength(id) + fields.length;
        ensureRoom(length + 6);
        octets[end++] = WORK_TAG;
        putVarint(length);
        octets[end++] = ID_TAG;
        putVarint(id);
        System.arraycopy(fields, 0, octets, end, fields.length);
        end += fields.length;
    }

    /** Puts the head before the work requests; nothing can be added then. */
    void seal() {
        int length = end - HEAD;
        int last = end;
        begin = HEAD - 1 - varintLength(length);
        end = begin;
        octets[end++] = POST_TAG;
        putVarint(length);
        end = last;
    }

    /** True when gRPC has taken everything. */
    boolean isTaken() {
        return begin == end;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
        int length = end - begin;
        target.write(octets, begin, length);
        begin = end;
        return length;
    }

    @Override
    public int available() {
        return end - begin;
    }

    @Override
    public int read() {
        return begin == end ? -1 : octets[begin++] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (begin == end && length > 0) {
            return -1;
        }
        int taken = Math.min(length, end - begin);
        System.arraycopy(octets, begin, target, offset, taken);
        begin += taken;
        return taken;
    }

    private void ensureRoom(int length) {
        if (octets.length - end < length) {
            octets = Arrays.copyOf(octets, Math.max(2 * octets.length, end + length));
        }
    }

    private void putVarint(int value) {
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            octets[end++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        octets[end++] = (byte) rest;
    }

    private static int varintLength(int value) {
        return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }
}
