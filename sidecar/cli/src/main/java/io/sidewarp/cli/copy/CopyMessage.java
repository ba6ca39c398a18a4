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
     * The client wants to store a file. Body: bytes of the file (8), bytes of a chunk (4), slots (2), mode (2), name
     * (text).
     *
     * @param chunk the client's wish; the server decides
     * @param slots number of chunks that the client can have in flight
     * @param mode permissions, or {@link Permissions#DEFAULT}
     */
    record Put(long size, int chunk, int slots, int mode, String name) implements CopyMessage {}

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

    /** The file is in its place, or the permissions are changed. No body. */
    record Stored() implements CopyMessage {}

    /**
     * The client wants a {@link DirectoryListing}, which the server sends like a file. Body: bytes of a chunk (4), slots
     * (2), name (text).
     *
     * @param name empty for the served directory
     */
    record ListDirectory(int chunk, int slots, String name) implements CopyMessage {}

    /** The client wants a directory. Body: mode (2 bytes), name (text). */
    record MakeDirectory(int mode, String name) implements CopyMessage {}

    /** The directory is there. Body: whether it is new (1 byte). */
    record Made(boolean created) implements CopyMessage {}

    /** The client takes from a directory all permissions that the mode does not have. Body: mode (2), name (text). */
    record Restrict(int mode, String name) implements CopyMessage {}

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
            case ListDirectory _ -> 55;
            case MakeDirectory _ -> 56;
            case Made _ -> 57;
            case Restrict _ -> 58;
        };
    }

    @Override
    default void encodeBody(ByteBuffer target) {
        switch (this) {
            case Put put -> {
                target.putLong(put.size())
                        .putInt(put.chunk())
                        .putShort((short) put.slots())
                        .putShort((short) put.mode());
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
            case ListDirectory list -> {
                target.putInt(list.chunk()).putShort((short) list.slots());
                Message.putText(target, list.name());
            }
            case MakeDirectory make -> {
                target.putShort((short) make.mode());
                Message.putText(target, make.name());
            }
            case Made made -> target.put((byte) (made.created() ? 1 : 0));
            case Restrict restrict -> {
                target.putShort((short) restrict.mode());
                Message.putText(target, restrict.name());
            }
        }
    }

    static CopyMessage decode(int type, ByteBuffer body) {
        return switch (type) {
            case 48 -> new Put(body.getLong(), body.getInt(), number(body), number(body), Message.getText(body));
            case 49 -> new Get(body.getInt(), number(body), Message.getText(body));
            case 50 -> new Window(body.getLong(), RemoteAddress.decode(body), body.getInt(), number(body));
            case 51 -> new Chunk(body.getLong(), body.getInt());
            case 52 -> new Taken(body.getLong());
            case 53 -> new Finish(body.getLong(), Message.getSha256(body));
            case 54 -> new Stored();
            case 55 -> new ListDirectory(body.getInt(), number(body), Message.getText(body));
            case 56 -> new MakeDirectory(number(body), Message.getText(body));
            case 57 -> new Made(body.get() != 0);
            case 58 -> new Restrict(number(body), Message.getText(body));
            default -> throw Message.unexpected(type);
        };
    }

    private static int number(ByteBuffer body) {
        return Short.toUnsignedInt(body.getShort());
    }
}
