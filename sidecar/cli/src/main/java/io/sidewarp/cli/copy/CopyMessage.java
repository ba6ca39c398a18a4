// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages of the copy service. */
sealed interface CopyMessage extends Message {

    /** Bytes of a SHA-256. */
    int DIGEST_LENGTH = 32;

    /**
     * The client wants to store a file. Body: bytes of the file (8), bytes of a chunk (4), slots (2), name (text).
     *
     * @param chunk the client's wish; the server decides
     * @param slots number of chunks that the client can have in flight
     */
    record Put(long size, int chunk, int slots, String name) implements CopyMessage {

        static final int TYPE = 48;

        static Put decode(ByteBuffer body) {
            return new Put(body.getLong(), body.getInt(), Short.toUnsignedInt(body.getShort()), Message.getText(body));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(size).putInt(chunk).putShort((short) slots);
            Message.putText(target, name);
        }
    }

    /** The client wants to fetch a file. Body: bytes of a chunk (4), slots (2), name (text). */
    record Get(int chunk, int slots, String name) implements CopyMessage {

        static final int TYPE = 49;

        static Get decode(ByteBuffer body) {
            return new Get(body.getInt(), Short.toUnsignedInt(body.getShort()), Message.getText(body));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putInt(chunk).putShort((short) slots);
            Message.putText(target, name);
        }
    }

    /**
     * The server's window: adjacent slots of one chunk each. Chunk number i goes through slot i modulo the number of
     * slots. Body: bytes of the file (8), address (12), bytes of a chunk (4), slots (2).
     */
    record Window(long size, RemoteAddress address, int chunk, int slots) implements CopyMessage {

        static final int TYPE = 50;

        static Window decode(ByteBuffer body) {
            return new Window(
                    body.getLong(), RemoteAddress.decode(body), body.getInt(), Short.toUnsignedInt(body.getShort()));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(size);
            address.encode(target);
            target.putInt(chunk).putShort((short) slots);
        }
    }

    /** A chunk is in its slot of the server's window. Body: number (8 bytes), bytes (4). */
    record Chunk(long index, int octets) implements CopyMessage {

        static final int TYPE = 51;

        static Chunk decode(ByteBuffer body) {
            return new Chunk(body.getLong(), body.getInt());
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(index).putInt(octets);
        }
    }

    /** The slot of a chunk can be used again. Body: number of the chunk (8 bytes). */
    record Taken(long index) implements CopyMessage {

        static final int TYPE = 52;

        static Taken decode(ByteBuffer body) {
            return new Taken(body.getLong());
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(index);
        }
    }

    /** The whole file was sent. Body: its bytes (8), its SHA-256 (32 bytes). */
    record Finish(long size, byte[] digest) implements CopyMessage {

        static final int TYPE = 53;

        static Finish decode(ByteBuffer body) {
            long size = body.getLong();
            byte[] digest = new byte[DIGEST_LENGTH];
            body.get(digest);
            return new Finish(size, digest);
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(size).put(digest);
        }
    }

    /** The file is in its place. No body. */
    record Stored() implements CopyMessage {

        static final int TYPE = 54;

        static Stored decode(ByteBuffer body) {
            return new Stored();
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {}
    }
}
