// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Implements the RDMA subsystem's netlink protocol, client RDMA_NL_NLDEV (uapi/rdma/rdma_netlink.h). */
final class RdmaNetlink {

    private static final int RDMA_NL_NLDEV = 5;
    private static final int CLIENT_SHIFT = 10;

    private static final int CMD_GET = command(1);
    private static final int CMD_NEWLINK = command(3);
    private static final int CMD_DELLINK = command(4);
    private static final int CMD_PORT_GET = command(5);
    private static final int CMD_GET_CHARDEV = command(15);

    private static final int ATTR_DEV_INDEX = 1;
    private static final int ATTR_DEV_NAME = 2;
    private static final int ATTR_PORT_INDEX = 3;
    private static final int ATTR_NDEV_NAME = 51;
    private static final int ATTR_LINK_TYPE = 65;
    private static final int ATTR_CHARDEV_TYPE = 69;
    private static final int ATTR_CHARDEV_NAME = 70;

    private static final String UVERBS = "uverbs";
    private static final String RDMA_CM = "rdma_cm";

    private final Duration timeout;

    RdmaNetlink(Duration timeout) {
        this.timeout = timeout;
    }

    private static int command(int number) {
        return (RDMA_NL_NLDEV << CLIENT_SHIFT) + number;
    }

    List<RdmaLink> links() throws HostException {
        try (NetlinkSocket socket = open()) {
            List<RdmaLink> links = new ArrayList<>();
            for (ByteBuffer message : socket.dump("listing RDMA devices", CMD_GET, new byte[0])) {
                NetlinkAttributes attributes = NetlinkAttributes.parse(message);
                int index = attributes.u32(ATTR_DEV_INDEX).orElse(-1);
                String name = attributes.string(ATTR_DEV_NAME).orElse("");
                if (index >= 0 && !name.isEmpty()) {
                    links.add(new RdmaLink(index, name, interfaces(socket, index)));
                }
            }
            return links;
        }
    }

    private static Map<Integer, String> interfaces(NetlinkSocket socket, int index) throws HostException {
        List<ByteBuffer> ports;
        try {
            byte[] request = new NetlinkWriter().u32(ATTR_DEV_INDEX, index).bytes();
            ports = socket.dump("listing the ports of RDMA device " + index, CMD_PORT_GET, request);
        } catch (HostException e) {
            if (e.is(Errno.EINVAL)) {
                // The device was removed meanwhile.
                return Map.of();
            }
            throw e;
        }
        Map<Integer, String> interfaces = new HashMap<>();
        for (ByteBuffer port : ports) {
            NetlinkAttributes attributes = NetlinkAttributes.parse(port);
            attributes
                    .u32(ATTR_PORT_INDEX)
                    .ifPresent(number -> attributes
                            .string(ATTR_NDEV_NAME)
                            .ifPresent(networkInterface -> interfaces.put(number, networkInterface)));
        }
        return interfaces;
    }

    void create(String type, String name, String networkInterface) throws HostException {
        byte[] request = new NetlinkWriter()
                .string(ATTR_DEV_NAME, name)
                .string(ATTR_LINK_TYPE, type)
                .string(ATTR_NDEV_NAME, networkInterface)
                .bytes();
        try (NetlinkSocket socket = open()) {
            socket.request(
                    "making RDMA device " + name + " of type " + type + " on " + networkInterface,
                    CMD_NEWLINK,
                    request);
        }
    }

    void delete(RdmaLink link) throws HostException {
        try (NetlinkSocket socket = open()) {
            socket.request(
                    "removing RDMA device " + link.name(),
                    CMD_DELLINK,
                    new NetlinkWriter().u32(ATTR_DEV_INDEX, link.index()).bytes());
        }
    }

    String openToUserSpace(RdmaLink link) throws HostException {
        try (NetlinkSocket socket = open()) {
            byte[] connectionManager =
                    new NetlinkWriter().string(ATTR_CHARDEV_TYPE, RDMA_CM).bytes();
            socket.request("finding the device node rdma_cm", CMD_GET_CHARDEV, connectionManager);
            byte[] verbs = new NetlinkWriter()
                    .u32(ATTR_DEV_INDEX, link.index())
                    .string(ATTR_CHARDEV_TYPE, UVERBS)
                    .bytes();
            String operation = "finding the device node of RDMA device " + link.name();
            for (ByteBuffer message : socket.request(operation, CMD_GET_CHARDEV, verbs)) {
                String name = NetlinkAttributes.parse(message)
                        .string(ATTR_CHARDEV_NAME)
                        .orElse("");
                if (!name.isEmpty()) {
                    return name;
                }
            }
            throw new HostException(operation, Errno.ENODEV);
        }
    }

    private NetlinkSocket open() throws HostException {
        return NetlinkSocket.open(NetlinkSocket.NETLINK_RDMA, timeout);
    }
}
