// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages between the two processes of the demo. */
sealed interface DemoMessage extends Message {

    /** Bytes of a SHA-256. */
    int DIGEST_LENGTH = 32;

    /** The sender asks for memory. Body: bytes (8). */
    record Want(long length) implements DemoMessage {

        static final int TYPE = 64;

        static Want decode(ByteBuffer body) {
            return new Want(body.getLong());
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(length);
        }
    }

    /** The receiver's memory. Body: address (12 bytes). */
    record Memory(RemoteAddress address) implements DemoMessage {

        static final int TYPE = 65;

        static Memory decode(ByteBuffer body) {
            return new Memory(RemoteAddress.decode(body));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            address.encode(target);
        }
    }

    /** A part of the file is in the receiver's memory. Body: bytes (8). */
    record Written(long length) implements DemoMessage {

        static final int TYPE = 66;

        static Written decode(ByteBuffer body) {
            return new Written(body.getLong());
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putLong(length);
        }
    }

    /** The SHA-256 of all data that the receiver has found in its memory so far. Body: 32 bytes. */
    record Digest(byte[] sha256) implements DemoMessage {

        static final int TYPE = 67;

        static Digest decode(ByteBuffer body) {
            byte[] sha256 = new byte[DIGEST_LENGTH];
            body.get(sha256);
            return new Digest(sha256);
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.put(sha256);
        }
    }

    /** Some words, in both directions. Body: text. */
    record Words(String text) implements DemoMessage {

        static final int TYPE = 68;

        static Words decode(ByteBuffer body) {
            return new Words(Message.getText(body));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            Message.putText(target, text);
        }
    }

    /** The sender's last Flush succeeded, and nothing else follows. Body: empty. */
    record Flushed() implements DemoMessage {

        static final int TYPE = 69;

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {}
    }
}
