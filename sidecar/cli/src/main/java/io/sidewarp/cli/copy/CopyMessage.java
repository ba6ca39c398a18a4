// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages of the copy service. */
sealed interface CopyMessage extends Message {

    /**
     * The client wants to store a file. Body: bytes of the file (8), bytes of a chunk (4), slots (2), name (text).
     *
     * @param chunk the client's wish; the server decides
     * @param slots number of chunks that the client can have in flight
     */
    record Put(long size, int chunk, int slots, String name) implements CopyMessage {}

    /** The client wants to fetch a file. Body: bytes of a chunk (4), slots (2), name (text). */
    record Get(int chunk, int slots, String name) implements CopyMessage {}

    /**
     * The server's window: adjacent slots of one chunk each. Chunk number i goes through slot i modulo the number of
     * slots. Body: bytes of the file (8), address (12), bytes of a chunk (4), slots (2).
     */
    record Window(long size, RemoteAddress address, int chunk, int slots) implements CopyMessage {}

    /** A chunk is in its slot of the server's window. Body: number (8 bytes), bytes (4). */
    record Chunk(long index, int octets) implements CopyMessage {}

    /** The slot of a chunk can be used again. Body: number of the chunk (8 bytes). */
    record Taken(long index) implements CopyMessage {

        /** @throws Failure when another chunk was expected */
        void check(long expected) {
            if (index != expected) {
                throw Message.unexpected(type());
            }
        }
    }

    /** The whole file was sent. Body: its bytes (8), its SHA-256 (32 bytes). */
    record Finish(long size, byte[] digest) implements CopyMessage {}

    /** The file is in its place. No body. */
    record Stored() implements CopyMessage {}

    @Override
    default int type() {
        return switch (this) {
            case Put _ -> 48;
            case Get _ -> 49;
            case Window _ -> 50;
            case Chunk _ -> 51;
            case Taken _ -> 52;
            case Finish _ -> 53;
            case Stored _ -> 54;
        };
    }

    @Override
    default void encodeBody(ByteBuffer target) {
        switch (this) {
            case Put put -> {
                target.putLong(put.size()).putInt(put.chunk()).putShort((short) put.slots());
                Message.putText(target, put.name());
            }
            case Get get -> {
                target.putInt(get.chunk()).putShort((short) get.slots());
                Message.putText(target, get.name());
            }
            case Window window -> {
                target.putLong(window.size());
                window.address().encode(target);
                target.putInt(window.chunk()).putShort((short) window.slots());
            }
            case Chunk chunk -> target.putLong(chunk.index()).putInt(chunk.octets());
            case Taken taken -> target.putLong(taken.index());
            case Finish finish -> target.putLong(finish.size()).put(finish.digest());
            case Stored _ -> {}
        }
    }

    static CopyMessage decode(int type, ByteBuffer body) {
        return switch (type) {
            case 48 -> new Put(body.getLong(), body.getInt(), slots(body), Message.getText(body));
            case 49 -> new Get(body.getInt(), slots(body), Message.getText(body));
            case 50 -> new Window(body.getLong(), RemoteAddress.decode(body), body.getInt(), slots(body));
            case 51 -> new Chunk(body.getLong(), body.getInt());
            case 52 -> new Taken(body.getLong());
            case 53 -> new Finish(body.getLong(), Message.getSha256(body));
            case 54 -> new Stored();
            default -> throw Message.unexpected(type);
        };
    }

    private static int slots(ByteBuffer body) {
        return Short.toUnsignedInt(body.getShort());
    }
}
