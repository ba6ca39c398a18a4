// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * An SCTP packet in a buffer (RFC 4960 section 3):
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |      Source Port Number       |    Destination Port Number    |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |                       Verification Tag                        |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |                           Checksum                            |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |  Chunk Type   |  Chunk Flags  |         Chunk Length          |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |                          Chunk Value                          |
 * </pre>
 */
final class SctpPacketFlyweight {

    static final int COMMON_HEADER_LENGTH = 12;
    static final int CHUNK_HEADER_LENGTH = 4;
    static final int CHUNK_ALIGNMENT = 4;
    static final int DATA_HEADER_LENGTH = 16;
    static final int SACK_LENGTH = 16;
    static final int INIT_LENGTH = 20;

    static final int DATA = 0;
    static final int INIT = 1;
    static final int INIT_ACK = 2;
    static final int SACK = 3;
    static final int HEARTBEAT = 4;
    static final int HEARTBEAT_ACK = 5;
    static final int ABORT = 6;
    static final int SHUTDOWN = 7;
    static final int SHUTDOWN_ACK = 8;
    static final int ERROR = 9;
    static final int COOKIE_ECHO = 10;
    static final int COOKIE_ACK = 11;
    static final int SHUTDOWN_COMPLETE = 14;
    /** PAD chunk (RFC 4820). */
    static final int PAD = 0x84;

    /** Flag of ABORT and SHUTDOWN COMPLETE: the Verification Tag is the receiver's own, reflected. */
    static final int FLAG_T = 1;

    private static final int SOURCE_PORT_OFFSET = 0;
    private static final int DESTINATION_PORT_OFFSET = 2;
    private static final int VERIFICATION_TAG_OFFSET = 4;
    private static final int CHECKSUM_OFFSET = 8;
    private static final int CHUNK_FLAGS_OFFSET = 1;
    private static final int CHUNK_LENGTH_OFFSET = 2;
    private static final int CHUNK_VALUE_OFFSET = 4;

    private SctpPacketFlyweight() {}

    static int sourcePort(WireBuffer packet) {
        return packet.getUnsignedShort(SOURCE_PORT_OFFSET);
    }

    static int destinationPort(WireBuffer packet) {
        return packet.getUnsignedShort(DESTINATION_PORT_OFFSET);
    }

    static int verificationTag(WireBuffer packet) {
        return packet.getInt(VERIFICATION_TAG_OFFSET);
    }

    static void header(WireBuffer packet, int sourcePort, int destinationPort, int verificationTag) {
        packet.putShort(SOURCE_PORT_OFFSET, sourcePort);
        packet.putShort(DESTINATION_PORT_OFFSET, destinationPort);
        packet.putInt(VERIFICATION_TAG_OFFSET, verificationTag);
    }

    /** Returns whether two packets have the same ports and Verification Tag. */
    static boolean isOfSameAssociation(WireBuffer one, WireBuffer other) {
        return one.getInt(SOURCE_PORT_OFFSET) == other.getInt(SOURCE_PORT_OFFSET)
                && verificationTag(one) == verificationTag(other);
    }

    /**
     * Returns the checksum as a CRC32c value. On the wire its least significant byte comes first (RFC 4960 appendix B).
     */
    static int checksum(WireBuffer packet) {
        return Integer.reverseBytes(packet.getInt(CHECKSUM_OFFSET));
    }

    static void checksum(WireBuffer packet, int crc32c) {
        packet.putInt(CHECKSUM_OFFSET, Integer.reverseBytes(crc32c));
    }

    static int chunkType(WireBuffer packet, int chunk) {
        return packet.getUnsignedByte(chunk);
    }

    static int chunkFlags(WireBuffer packet, int chunk) {
        return packet.getUnsignedByte(chunk + CHUNK_FLAGS_OFFSET);
    }

    /** Returns the bytes of the chunk with its header and without padding. */
    static int chunkLength(WireBuffer packet, int chunk) {
        return packet.getUnsignedShort(chunk + CHUNK_LENGTH_OFFSET);
    }

    static void chunk(WireBuffer packet, int chunk, int type, int flags, int length) {
        packet.putByte(chunk, type);
        packet.putByte(chunk + CHUNK_FLAGS_OFFSET, flags);
        packet.putShort(chunk + CHUNK_LENGTH_OFFSET, length);
    }

    /** Returns the offset of the next chunk. It may lie behind the packet. */
    static int nextChunk(WireBuffer packet, int chunk) {
        return chunk + (chunkLength(packet, chunk) + 3 & ~3);
    }

    /** Returns whether a whole chunk begins at the offset. */
    static boolean isChunk(WireBuffer packet, int chunk, int packetLength) {
        if (chunk + CHUNK_HEADER_LENGTH > packetLength) {
            return false;
        }
        int length = chunkLength(packet, chunk);
        return length >= CHUNK_HEADER_LENGTH && chunk + length <= packetLength;
    }

    /** Returns whether the chunk has the given type and at least the given length. */
    static boolean isChunk(WireBuffer packet, int chunk, int packetLength, int type, int minimumLength) {
        return isChunk(packet, chunk, packetLength)
                && chunkType(packet, chunk) == type
                && chunkLength(packet, chunk) >= minimumLength;
    }

    /**
     * Returns the first field of a chunk: Initiate Tag of INIT and INIT ACK, TSN of DATA, Cumulative TSN Ack of SACK.
     */
    static int chunkValue(WireBuffer packet, int chunk) {
        return packet.getInt(chunk + CHUNK_VALUE_OFFSET);
    }
}
