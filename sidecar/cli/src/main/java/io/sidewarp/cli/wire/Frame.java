// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.function.Function;

/**
 * A message as it arrived: its type, and its unread body.
 *
 * @param type see {@link Message#type()}
 * @param body big-endian, from its position to its limit
 */
public record Frame(int type, ByteBuffer body) {

    /**
     * Reads the header.
     *
     * @throws Failure when the message has another version, or its length is wrong
     */
    public static Frame decode(ByteBuffer message) {
        if (message.remaining() < Message.HEADER_LENGTH) {
            throw malformed("of " + message.remaining() + " bytes");
        }
        int version = message.get();
        int type = Byte.toUnsignedInt(message.get());
        message.getShort();
        if (version != Message.VERSION) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "the peer speaks version " + version + " of the command's protocol, and this side speaks version "
                            + Message.VERSION + ": use the same release at both ends");
        }
        if (message.getInt() != message.remaining()) {
            throw malformed("of type " + type + " with a wrong length");
        }
        return new Frame(type, message.slice());
    }

    /** Reads the body. */
    public <T> T read(Function<ByteBuffer, T> decoder) {
        try {
            return decoder.apply(body);
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw malformed("of type " + type + " that is too short");
        }
    }

    /**
     * Reads the body of the only type that is possible here.
     *
     * @throws Failure when the message has another type
     */
    public <T> T expect(int expected, Function<ByteBuffer, T> decoder) {
        if (type != expected) {
            throw unexpected();
        }
        return read(decoder);
    }

    /** Returns the failure for a message that is not expected here. */
    public Failure unexpected() {
        return malformed("of type " + type + ", which is not expected here");
    }

    private static Failure malformed(String what) {
        return new Failure(
                ExitCode.PROTOCOL,
                "the peer sent a message " + what + ": use the same release of the command at both ends");
    }
}
