// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads and sets Boolean device parameters through the devlink family of generic netlink (uapi/linux/devlink.h). */
final class DevlinkNetlink {

    private static final int GENL_ID_CTRL = 16;
    private static final int CTRL_CMD_GETFAMILY = 3;
    private static final int CTRL_VERSION = 2;
    private static final int CTRL_ATTR_FAMILY_ID = 1;
    private static final int CTRL_ATTR_FAMILY_NAME = 2;

    private static final String FAMILY = "devlink";
    private static final int VERSION = 1;
    private static final int CMD_PARAM_GET = 38;
    private static final int CMD_PARAM_SET = 39;
    private static final int ATTR_BUS_NAME = 1;
    private static final int ATTR_DEV_NAME = 2;
    private static final int ATTR_PARAM = 80;
    private static final int ATTR_PARAM_NAME = 81;
    private static final int ATTR_PARAM_TYPE = 83;
    private static final int ATTR_PARAM_VALUES_LIST = 84;
    private static final int ATTR_PARAM_VALUE = 85;
    private static final int ATTR_PARAM_VALUE_DATA = 86;
    private static final int ATTR_PARAM_VALUE_CMODE = 87;

    /** Type of Boolean values: the value attribute is present (true) or absent (false). */
    private static final int NLA_FLAG = 6;

    /** Length of struct genlmsghdr: command, version, and 2 reserved bytes. */
    private static final int GENERIC_HEADER_LENGTH = 4;

    private final Duration timeout;

    DevlinkNetlink(Duration timeout) {
        this.timeout = timeout;
    }

    Optional<Boolean> get(DevlinkParameter parameter) throws HostException {
        String operation = "reading devlink parameter " + parameter;
        try (NetlinkSocket socket = open()) {
            byte[] request = request(CMD_PARAM_GET, parameter).bytes();
            for (ByteBuffer message : socket.request(operation, family(socket, operation), request)) {
                NetlinkAttributes values =
                        attributes(message).nested(ATTR_PARAM).nested(ATTR_PARAM_VALUES_LIST);
                for (NetlinkAttributes value : values.nestedList(ATTR_PARAM_VALUE)) {
                    if (value.u8(ATTR_PARAM_VALUE_CMODE).orElse(-1)
                            == parameter.mode().ordinal()) {
                        return Optional.of(value.has(ATTR_PARAM_VALUE_DATA));
                    }
                }
            }
            return Optional.empty();
        } catch (HostException e) {
            // No devlink in the kernel; no such device; no such parameter.
            if (e.is(Errno.ENOENT) || e.is(Errno.ENODEV) || e.is(Errno.EINVAL) || e.is(Errno.EOPNOTSUPP)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    void set(DevlinkParameter parameter, boolean value) throws HostException {
        String operation = "setting devlink parameter " + parameter + " to " + value;
        try (NetlinkSocket socket = open()) {
            NetlinkWriter request = request(CMD_PARAM_SET, parameter)
                    .u8(ATTR_PARAM_TYPE, NLA_FLAG)
                    .u8(ATTR_PARAM_VALUE_CMODE, parameter.mode().ordinal());
            if (value) {
                request.flag(ATTR_PARAM_VALUE_DATA);
            }
            socket.request(operation, family(socket, operation), request.bytes());
        }
    }

    private static NetlinkWriter request(int command, DevlinkParameter parameter) {
        return header(command, VERSION)
                .string(ATTR_BUS_NAME, parameter.bus())
                .string(ATTR_DEV_NAME, parameter.device())
                .string(ATTR_PARAM_NAME, parameter.name());
    }

    private static NetlinkWriter header(int command, int version) {
        return new NetlinkWriter().header((byte) command, (byte) version, (byte) 0, (byte) 0);
    }

    /** Returns the message type of the family, which the kernel assigns when the family is registered. */
    private static int family(NetlinkSocket socket, String operation) throws HostException {
        byte[] request = header(CTRL_CMD_GETFAMILY, CTRL_VERSION)
                .string(CTRL_ATTR_FAMILY_NAME, FAMILY)
                .bytes();
        for (ByteBuffer message : socket.request(operation, GENL_ID_CTRL, request)) {
            OptionalInt type = attributes(message).u16(CTRL_ATTR_FAMILY_ID);
            if (type.isPresent()) {
                return type.getAsInt();
            }
        }
        throw new HostException(operation, Errno.ENOENT);
    }

    private static NetlinkAttributes attributes(ByteBuffer message) {
        int length = Math.max(0, message.remaining() - GENERIC_HEADER_LENGTH);
        return NetlinkAttributes.parse(message.slice(Math.min(message.remaining(), GENERIC_HEADER_LENGTH), length));
    }

    private NetlinkSocket open() throws HostException {
        return NetlinkSocket.open(NetlinkSocket.NETLINK_GENERIC, timeout);
    }
}
