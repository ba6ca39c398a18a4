// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/** Answers packets that belong to no association (RFC 4960 section 8.4). */
final class OutOfTheBlue {

    static final int ANSWER_LENGTH = SctpPacketFlyweight.COMMON_HEADER_LENGTH + SctpPacketFlyweight.CHUNK_HEADER_LENGTH;

    /**
     * Length of {@link #answer} with {@link #addOutOfResource}. It is shorter than an INIT, because the sender of the
     * INIT may be forged.
     */
    static final int REFUSAL_LENGTH = ANSWER_LENGTH + AbortCause.CAUSE_HEADER_LENGTH;

    private OutOfTheBlue() {}

    /**
     * Returns whether the packet is an INIT and nothing else, like the first packet of an association (RFC 4960 section
     * 8.5.1).
     */
    static boolean isInit(WireBuffer packet, int length) {
        int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        return SctpPacketFlyweight.verificationTag(packet) == 0
                && SctpPacketFlyweight.isChunk(
                        packet, chunk, length, SctpPacketFlyweight.INIT, SctpPacketFlyweight.INIT_LENGTH)
                && SctpPacketFlyweight.nextChunk(packet, chunk) >= length
                && SctpPacketFlyweight.chunkValue(packet, chunk) != 0;
    }

    /**
     * Writes the answer, without checksum.
     *
     * @return false when the packet gets no answer
     */
    static boolean answer(WireBuffer packet, int length, WireBuffer answer) {
        int first = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        for (int chunk = first;
                SctpPacketFlyweight.isChunk(packet, chunk, length);
                chunk = SctpPacketFlyweight.nextChunk(packet, chunk)) {
            switch (SctpPacketFlyweight.chunkType(packet, chunk)) {
                case SctpPacketFlyweight.ABORT,
                        SctpPacketFlyweight.SHUTDOWN_COMPLETE,
                        SctpPacketFlyweight.COOKIE_ACK,
                        SctpPacketFlyweight.ERROR -> {
                    return false;
                }
                default -> {
                    // Check the next chunk.
                }
            }
        }
        if (!SctpPacketFlyweight.isChunk(packet, first, length)) {
            return false;
        }
        int type = SctpPacketFlyweight.ABORT;
        int flags = SctpPacketFlyweight.FLAG_T;
        int tag = SctpPacketFlyweight.verificationTag(packet);
        if (isInit(packet, length)) {
            flags = 0;
            tag = SctpPacketFlyweight.chunkValue(packet, first);
        } else if (SctpPacketFlyweight.chunkType(packet, first) == SctpPacketFlyweight.SHUTDOWN_ACK) {
            type = SctpPacketFlyweight.SHUTDOWN_COMPLETE;
        }
        SctpPacketFlyweight.header(
                answer,
                /* sourcePort= */ SctpPacketFlyweight.destinationPort(packet),
                /* destinationPort= */ SctpPacketFlyweight.sourcePort(packet),
                tag);
        SctpPacketFlyweight.chunk(answer, first, type, flags, SctpPacketFlyweight.CHUNK_HEADER_LENGTH);
        return true;
    }

    /**
     * Adds the cause Out of Resource to the answer to an INIT: there is no room for the association (RFC 9260 sections
     * 5.1, 3.3.10.4).
     */
    static void addOutOfResource(WireBuffer answer) {
        SctpPacketFlyweight.chunk(
                answer,
                SctpPacketFlyweight.COMMON_HEADER_LENGTH,
                SctpPacketFlyweight.ABORT,
                0,
                SctpPacketFlyweight.CHUNK_HEADER_LENGTH + AbortCause.CAUSE_HEADER_LENGTH);
        answer.putShort(ANSWER_LENGTH, AbortCause.OUT_OF_RESOURCE);
        answer.putShort(ANSWER_LENGTH + Short.BYTES, AbortCause.CAUSE_HEADER_LENGTH);
    }
}
