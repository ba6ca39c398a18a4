// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Bundles DATA chunks that an association sends in a row into as few packets as possible (RFC 9260 section 6.10). The
 * protocol gives each message a packet of its own, because it is told not to delay any.
 *
 * <p>Nothing is delayed here either. A packet goes out when the loop has nothing more to add at the moment.
 */
final class PacketBundler {

    private final UdpChannel channel;
    private final UdpEndpoint endpoint;
    private final PacketChecksum checksum = new PacketChecksum();
    private @Nullable StagingBuffer held;
    private @Nullable InetSocketAddress heldTo;
    private int heldLength;
    /** True if more DATA chunks may follow in the held packet. */
    private boolean open;

    private int lastTsn;

    PacketBundler(UdpChannel channel, UdpEndpoint endpoint) {
        this.channel = channel;
        this.endpoint = endpoint;
    }

    /** Returns a buffer for a packet, or null when the packet is to be dropped; see {@link UdpChannel#acquire}. */
    @Nullable
    StagingBuffer acquire(int length) {
        return channel.acquire(length);
    }

    /** Releases a buffer that was acquired and not used. */
    void release(StagingBuffer buffer) {
        channel.release(buffer);
    }

    /**
     * Sends a packet with the next {@link #flush} at the latest. Takes the buffer.
     *
     * @param packetSize most bytes of a packet to that address
     */
    void write(StagingBuffer buffer, int length, InetSocketAddress to, int packetSize) {
        if (append(buffer.wire(), length, to, packetSize)) {
            channel.release(buffer);
        } else {
            send();
            held = buffer;
            heldLength = length;
            heldTo = to;
            open = length % SctpPacketFlyweight.CHUNK_ALIGNMENT == 0
                    && isDataBehind(SctpPacketFlyweight.SACK, buffer.wire(), length);
        }
    }

    void flush() {
        send();
        channel.flush();
    }

    private void send() {
        StagingBuffer buffer = held;
        InetSocketAddress to = heldTo;
        if (buffer != null && to != null) {
            held = null;
            heldTo = null;
            checksum.fill(buffer.wire(), heldLength);
            endpoint.increment(SctpCounter.SENT_PACKETS);
            channel.write(buffer, heldLength, to);
        }
    }

    private boolean append(WireBuffer packet, int length, InetSocketAddress to, int packetSize) {
        StagingBuffer before = held;
        int begin = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        int chunks = length - begin;
        int known = lastTsn;
        if (before == null
                || !open
                || heldLength + chunks > packetSize
                || !to.equals(heldTo)
                || !SctpPacketFlyweight.isOfSameAssociation(before.wire(), packet)
                || !isDataBehind(SctpPacketFlyweight.DATA, packet, length)
                || SctpPacketFlyweight.chunkValue(packet, begin) - known <= 0) {
            return false;
        }
        before.wire().putBytes(heldLength, packet, begin, chunks);
        heldLength += chunks;
        open = heldLength % SctpPacketFlyweight.CHUNK_ALIGNMENT == 0;
        return true;
    }

    /**
     * Returns whether a packet ends with DATA chunks and has only chunks of one other kind before. Notes the last TSN.
     */
    private boolean isDataBehind(int other, WireBuffer packet, int length) {
        boolean data = false;
        int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        while (SctpPacketFlyweight.isChunk(packet, chunk, length)) {
            int type = SctpPacketFlyweight.chunkType(packet, chunk);
            if (type == SctpPacketFlyweight.DATA) {
                data = true;
                lastTsn = SctpPacketFlyweight.chunkValue(packet, chunk);
            } else if (data || type != other) {
                return false;
            }
            chunk = SctpPacketFlyweight.nextChunk(packet, chunk);
        }
        return data;
    }
}
