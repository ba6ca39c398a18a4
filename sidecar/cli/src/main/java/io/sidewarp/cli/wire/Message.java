// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A control message. On the wire it is a Send of a header of eight bytes and the body:
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +---------------+---------------+-------------------------------+
 *   |  Version (1)  |     Type      |          Reserved (0)         |
 *   +---------------+---------------+-------------------------------+
 *   |                        Length of the body                     |
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * All integers are big-endian.
 */
public interface Message {

    int VERSION = 1;

    /** Bytes of the header. */
    int HEADER_LENGTH = 8;

    /** Bytes of the largest message, including the header. */
    int MAX_LENGTH = 1024;

    /** Bytes of a SHA-256. */
    int SHA256_LENGTH = 32;

    /** Reads the messages of one service. */
    @FunctionalInterface
    interface Decoder<M extends Message> {

        /**
         * Reads a body.
         *
         * @param body big-endian, from its position to its limit
         * @throws Failure {@link Message#unexpected} when the service has no such type
         */
        M decode(int type, ByteBuffer body);
    }

    /** Returns the number of the message kind on the wire, 1 to 255. */
    int type();

    /** Writes the body at the buffer's position, in its big-endian order. */
    void encodeBody(ByteBuffer target);

    /** Writes the message at the buffer's position. */
    static void encode(Message message, ByteBuffer target) {
        int start = target.position();
        target.put((byte) VERSION)
                .put((byte) message.type())
                .putShort((short) 0)
                .putInt(0);
        message.encodeBody(target);
        target.putInt(start + 4, target.position() - start - HEADER_LENGTH);
    }

    /**
     * Reads a message as it arrived.
     *
     * @throws Failure when the peer reports an error, or when the message is malformed or of another version
     */
    static <M extends Message> M decode(ByteBuffer message, Decoder<M> decoder) {
        if (message.remaining() < HEADER_LENGTH) {
            throw malformed("of " + message.remaining() + " bytes");
        }
        int version = message.get();
        int type = Byte.toUnsignedInt(message.get());
        message.getShort();
        if (version != VERSION) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "the peer speaks version " + version + " of the command's protocol, and this side speaks version "
                            + VERSION + ": use the same release at both ends");
        }
        if (message.getInt() != message.remaining()) {
            throw malformed("of type " + type + " with a wrong length");
        }
        try {
            if (type == ErrorMessage.TYPE) {
                throw ErrorMessage.decode(message).toFailure();
            }
            return decoder.decode(type, message);
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw malformed("of type " + type + " that is too short");
        }
    }

    /** Returns the failure for a message that is not expected here. */
    static Failure unexpected(int type) {
        return malformed("of type " + type + ", which is not expected here");
    }

    private static Failure malformed(String what) {
        return new Failure(
                ExitCode.PROTOCOL,
                "the peer sent a message " + what + ": use the same release of the command at both ends");
    }

    /** Writes a text: two bytes of length, then UTF-8. */
    static void putText(ByteBuffer target, String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        target.putShort((short) octets.length).put(octets);
    }

    /** Reads what {@link #putText} wrote. */
    static String getText(ByteBuffer source) {
        byte[] octets = new byte[Short.toUnsignedInt(source.getShort())];
        source.get(octets);
        return new String(octets, StandardCharsets.UTF_8);
    }

    /** Reads a SHA-256. */
    static byte[] getSha256(ByteBuffer source) {
        byte[] sha256 = new byte[SHA256_LENGTH];
        source.get(sha256);
        return sha256;
    }
}
