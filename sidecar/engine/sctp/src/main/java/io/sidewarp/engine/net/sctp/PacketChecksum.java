// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The CRC32c of SCTP packets (RFC 4960 section 6.8). Allocates nothing per packet; not thread-safe. */
final class PacketChecksum {

    private final CRC32C crc = new CRC32C();

    /** Fills in the checksum of a packet. */
    void fill(WireBuffer packet, int length) {
        SctpPacketFlyweight.checksum(packet, 0);
        SctpPacketFlyweight.checksum(packet, compute(packet, length));
    }

    /** Returns whether the checksum is right. The checksum in the packet is zero afterwards. */
    boolean verify(WireBuffer packet, int length) {
        int received = SctpPacketFlyweight.checksum(packet);
        SctpPacketFlyweight.checksum(packet, 0);
        return compute(packet, length) == received;
    }

    private int compute(WireBuffer packet, int length) {
        ByteBuffer nio = packet.nio();
        nio.limit(length).position(0);
        crc.reset();
        crc.update(nio);
        nio.clear();
        return (int) crc.getValue();
    }
}
