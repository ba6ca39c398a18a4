// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Messages as bytes, written in hexadecimal digits. */
public final class Octets {

    private Octets() {}

    /** The whole message in hexadecimal digits. */
    public static String of(Message message) {
        ByteBuffer buffer = ByteBuffer.allocate(Message.MAX_LENGTH);
        Message.encode(message, buffer);
        return HexFormat.of().formatHex(buffer.array(), 0, buffer.position());
    }

    /** Reads the message in hexadecimal digits. */
    public static <M extends Message> M read(String hex, Message.Decoder<M> decoder) {
        return Message.decode(ByteBuffer.wrap(HexFormat.of().parseHex(hex)), decoder);
    }
}
