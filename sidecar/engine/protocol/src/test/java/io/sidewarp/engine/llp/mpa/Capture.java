// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes that TCP carried from one port, from a capture without loss or reordering (pcap of Ethernet frames with
 * IPv4).
 */
final class Capture {

    private static final int FILE_HEADER = 24;
    private static final int ETHERNET_HEADER = 14;
    private static final int PROTOCOL_TCP = 6;

    private Capture() {}

    /** The stream of each direction, by its source port. */
    static Map<Integer, byte[]> streams(String name) {
        ByteBuffer file = ByteBuffer.wrap(read(name)).order(ByteOrder.LITTLE_ENDIAN);
        Map<Integer, ByteArrayOutputStream> streams = new TreeMap<>();
        file.position(FILE_HEADER);
        while (file.hasRemaining()) {
            int length = file.getInt(file.position() + 8);
            byte[] packet = new byte[length];
            file.position(file.position() + 16).get(packet);
            addSegment(
                    streams,
                    ByteBuffer.wrap(packet, ETHERNET_HEADER, length - ETHERNET_HEADER)
                            .slice());
        }
        Map<Integer, byte[]> result = new TreeMap<>();
        streams.forEach((port, octets) -> result.put(port, octets.toByteArray()));
        return result;
    }

    private static void addSegment(Map<Integer, ByteArrayOutputStream> streams, ByteBuffer ip) {
        int ipHeader = (ip.get(0) & 0x0F) * 4;
        int totalLength = ip.getShort(2) & 0xFFFF;
        if (ip.get(9) != PROTOCOL_TCP) {
            return;
        }
        int payload = ipHeader + (ip.get(ipHeader + 12) >> 4 & 0x0F) * 4;
        byte[] octets = Arrays.copyOfRange(ip.array(), ip.arrayOffset() + payload, ip.arrayOffset() + totalLength);
        if (octets.length > 0) {
            int port = ip.getShort(ipHeader) & 0xFFFF;
            streams.computeIfAbsent(port, key -> new ByteArrayOutputStream()).writeBytes(octets);
        }
    }

    private static byte[] read(String name) {
        try (InputStream in = Capture.class.getResourceAsStream("/captures/" + name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
