// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages between the two processes of the demo. */
sealed interface DemoMessage extends Message {

    /** The sender asks for memory. Body: bytes (8). */
    record Want(long length) implements DemoMessage {}

    /** The receiver's memory. Body: address (12 bytes). */
    record Memory(RemoteAddress address) implements DemoMessage {}

    /** A part of the file is in the receiver's memory. Body: bytes (8). */
    record Written(long length) implements DemoMessage {}

    /** The SHA-256 of all data that the receiver has found in its memory so far. Body: 32 bytes. */
    record Digest(byte[] sha256) implements DemoMessage {}

    /** Some words, in both directions. Body: text. */
    record Words(String text) implements DemoMessage {}

    /** The sender's last Flush succeeded, and nothing else follows. Body: empty. */
    record Flushed() implements DemoMessage {}

    @Override
    default int type() {
        return switch (this) {
            case Want _ -> 64;
            case Memory _ -> 65;
            case Written _ -> 66;
            case Digest _ -> 67;
            case Words _ -> 68;
            case Flushed _ -> 69;
        };
    }

    @Override
    default void encodeBody(ByteBuffer target) {
        switch (this) {
            case Want want -> target.putLong(want.length());
            case Memory memory -> memory.address().encode(target);
            case Written written -> target.putLong(written.length());
            case Digest digest -> target.put(digest.sha256());
            case Words words -> Message.putText(target, words.text());
            case Flushed _ -> {}
        }
    }

    static DemoMessage decode(int type, ByteBuffer body) {
        return switch (type) {
            case 64 -> new Want(body.getLong());
            case 65 -> new Memory(RemoteAddress.decode(body));
            case 66 -> new Written(body.getLong());
            case 67 -> new Digest(Message.getSha256(body));
            case 68 -> new Words(Message.getText(body));
            case 69 -> new Flushed();
            default -> throw Message.unexpected(type);
        };
    }
}
