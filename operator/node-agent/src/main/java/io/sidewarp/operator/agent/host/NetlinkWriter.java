// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes the attributes of a netlink message (struct nlattr): length, type, value, each padded to 4 bytes. */
final class NetlinkWriter {

    static final int ALIGNMENT = 4;

    /** Size of the buffer. Requests contain only a few names and numbers. */
    private static final int CAPACITY = 1024;

    private final ByteBuffer buffer = ByteBuffer.allocate(CAPACITY).order(ByteOrder.nativeOrder());

    /** Writes the header before the attributes of a family's messages, such as struct genlmsghdr. */
    NetlinkWriter header(byte... bytes) {
        buffer.put(bytes);
        return this;
    }

    NetlinkWriter string(int type, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        begin(type, bytes.length + 1).put(bytes).put((byte) 0);
        return pad();
    }

    NetlinkWriter u32(int type, int value) {
        begin(type, Integer.BYTES).putInt(value);
        return this;
    }

    NetlinkWriter u8(int type, int value) {
        begin(type, Byte.BYTES).put((byte) value);
        return pad();
    }

    NetlinkWriter flag(int type) {
        begin(type, 0);
        return this;
    }

    private ByteBuffer begin(int type, int length) {
        return buffer.putShort((short) (NetlinkAttributes.HEADER_LENGTH + length))
                .putShort((short) type);
    }

    private NetlinkWriter pad() {
        while (buffer.position() % ALIGNMENT != 0) {
            buffer.put((byte) 0);
        }
        return this;
    }

    byte[] bytes() {
        byte[] bytes = new byte[buffer.position()];
        buffer.get(0, bytes);
        return bytes;
    }
}
