// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

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
}
