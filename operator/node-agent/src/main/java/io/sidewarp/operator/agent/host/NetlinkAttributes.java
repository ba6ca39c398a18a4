// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;

/** Attributes of a netlink message (struct nlattr), in the order of the message. */
final class NetlinkAttributes {

    static final int HEADER_LENGTH = 4;

    /** Mask that removes the flags for nested attributes and network byte order. */
    private static final int TYPE_MASK = 0x3FFF;

    private record Attribute(int type, ByteBuffer value) {}

    private final List<Attribute> attributes = new ArrayList<>();

    private NetlinkAttributes() {}

    /** Reads attributes up to the end of the buffer, or up to the first incomplete attribute. */
    static NetlinkAttributes parse(ByteBuffer buffer) {
        NetlinkAttributes parsed = new NetlinkAttributes();
        ByteBuffer rest = buffer.slice().order(ByteOrder.nativeOrder());
        int position = 0;
        while (rest.limit() - position >= HEADER_LENGTH) {
            int length = Short.toUnsignedInt(rest.getShort(position));
            int type = rest.getShort(position + Short.BYTES) & TYPE_MASK;
            if (length < HEADER_LENGTH || length > rest.limit() - position) {
                break;
            }
            ByteBuffer value = rest.slice(position + HEADER_LENGTH, length - HEADER_LENGTH);
            parsed.attributes.add(new Attribute(type, value.order(ByteOrder.nativeOrder())));
            position += align(length);
        }
        return parsed;
    }

    static int align(int length) {
        return (length + NetlinkWriter.ALIGNMENT - 1) & -NetlinkWriter.ALIGNMENT;
    }

    private Optional<ByteBuffer> find(int type) {
        return attributes.stream()
                .filter(attribute -> attribute.type == type)
                .map(Attribute::value)
                .findFirst();
    }

    boolean has(int type) {
        return find(type).isPresent();
    }

    Optional<String> string(int type) {
        return find(type).map(value -> {
            int length = value.remaining();
            if (length > 0 && value.get(length - 1) == 0) {
                length--;
            }
            byte[] bytes = new byte[length];
            value.get(0, bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        });
    }

    OptionalInt u32(int type) {
        return number(type, Integer.BYTES, value -> value.getInt(0));
    }

    OptionalInt u16(int type) {
        return number(type, Short.BYTES, value -> Short.toUnsignedInt(value.getShort(0)));
    }

    OptionalInt u8(int type) {
        return number(type, Byte.BYTES, value -> Byte.toUnsignedInt(value.get(0)));
    }

    private OptionalInt number(int type, int length, ToIntFunction<ByteBuffer> read) {
        return find(type).filter(value -> value.remaining() >= length).stream()
                .mapToInt(read)
                .findFirst();
    }

    /** Returns the attributes nested in an attribute; none if the attribute is absent. */
    NetlinkAttributes nested(int type) {
        return find(type).map(NetlinkAttributes::parse).orElseGet(NetlinkAttributes::new);
    }

    /** Returns the nested attributes of each attribute of a type. */
    List<NetlinkAttributes> nestedList(int type) {
        return attributes.stream()
                .filter(attribute -> attribute.type == type)
                .map(attribute -> parse(attribute.value))
                .toList();
    }
}
