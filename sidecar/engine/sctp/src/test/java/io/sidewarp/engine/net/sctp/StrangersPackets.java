// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/** SCTP packets that no SCTP stack has made. */
final class StrangersPackets {

    static final int HEADERS = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
    static final int INIT_PACKET = HEADERS + SctpPacketFlyweight.INIT_LENGTH;
    /** Initiate Tag of {@link #init}. */
    static final int TAG = 0x01020304;

    private static final int COOKIE_ECHO = 10;
    private static final int STATE_COOKIE = 7;

    private StrangersPackets() {}

    /** An INIT without parameters, between these SCTP ports. */
    static byte[] init(int from, int to) {
        WireBuffer packet = WireBuffer.allocate(INIT_PACKET);
        SctpPacketFlyweight.header(packet, from, to, 0);
        SctpPacketFlyweight.chunk(packet, HEADERS, SctpPacketFlyweight.INIT, 0, SctpPacketFlyweight.INIT_LENGTH);
        packet.putInt(HEADERS + 4, TAG);
        packet.putInt(HEADERS + 8, 1 << 20);
        packet.putShort(HEADERS + 12, 10);
        packet.putShort(HEADERS + 14, 10);
        packet.putInt(HEADERS + 16, 1);
        return finished(packet);
    }

    /** An answer to an INIT that no association can come of. */
    static byte[] initAckWithoutStreams(WireBuffer init) {
        WireBuffer packet = WireBuffer.allocate(INIT_PACKET);
        answerHeader(packet, init);
        SctpPacketFlyweight.chunk(packet, HEADERS, SctpPacketFlyweight.INIT_ACK, 0, SctpPacketFlyweight.INIT_LENGTH);
        packet.putInt(HEADERS + 4, TAG);
        packet.putInt(HEADERS + 8, 1 << 20);
        packet.putInt(HEADERS + 16, 1);
        return finished(packet);
    }

    /** The answer to an INIT ACK, with its cookie. */
    static byte[] cookieEcho(WireBuffer initAck) {
        int parameter = INIT_PACKET;
        while (initAck.getUnsignedShort(parameter) != STATE_COOKIE) {
            parameter += initAck.getUnsignedShort(parameter + 2) + 3 & ~3;
        }
        int length = initAck.getUnsignedShort(parameter + 2);
        WireBuffer packet = WireBuffer.allocate(HEADERS + (length + 3 & ~3));
        answerHeader(packet, initAck);
        packet.putBytes(HEADERS, initAck, parameter, length);
        SctpPacketFlyweight.chunk(packet, HEADERS, COOKIE_ECHO, 0, length);
        return finished(packet);
    }

    /** A packet with a chunk of zeros, of the association that the INIT ACK began. */
    static byte[] zeros(WireBuffer initAck, int chunkType, int chunkLength) {
        WireBuffer packet = WireBuffer.allocate(HEADERS + chunkLength);
        answerHeader(packet, initAck);
        SctpPacketFlyweight.chunk(packet, HEADERS, chunkType, 0, chunkLength);
        return finished(packet);
    }

    /** Writes the header of an answer to an INIT or INIT ACK. */
    private static void answerHeader(WireBuffer packet, WireBuffer init) {
        SctpPacketFlyweight.header(
                packet,
                /* sourcePort= */ SctpPacketFlyweight.destinationPort(init),
                /* destinationPort= */ SctpPacketFlyweight.sourcePort(init),
                SctpPacketFlyweight.chunkValue(init, HEADERS));
    }

    /** The octets of a packet, with its checksum. */
    static byte[] finished(WireBuffer packet) {
        new PacketChecksum().fill(packet, packet.capacity());
        byte[] octets = new byte[packet.capacity()];
        packet.getBytes(0, octets, 0, octets.length);
        return octets;
    }
}
