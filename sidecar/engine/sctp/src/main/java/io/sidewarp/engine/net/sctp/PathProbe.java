// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds out whether the path to a peer carries packets as large as the local interface does. A path may drop them
 * silently. Packets therefore begin small. They grow when the peer has answered a HEARTBEAT that a PAD chunk made as
 * large (RFC 8899 section 3, RFC 4820). A peer that does not know PAD skips it.
 */
final class PathProbe {

    /** Bytes that every IPv6 path carries (RFC 8200 section 5), and nearly every IPv4 path. */
    static final int SAFE_MTU = 1280;

    /** Unanswered probes after which the path counts as narrow (RFC 8899 section 5.1.2). Probing continues. */
    static final int MAX_PROBES = 3;

    private static final Duration FIRST_INTERVAL = Duration.ofSeconds(1);

    private static final int INFO_PARAMETER = 1;
    private static final int INFO_LENGTH = 4 + Long.BYTES;
    private static final int HEARTBEAT = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
    private static final int HEARTBEAT_LENGTH = SctpPacketFlyweight.CHUNK_HEADER_LENGTH + INFO_LENGTH;
    private static final int PAD = HEARTBEAT + HEARTBEAT_LENGTH;

    private final int largest;
    private final long longestInterval;
    private final long nonce = ThreadLocalRandom.current().nextLong();
    private int packetSize;
    private int sent;
    private long interval = FIRST_INTERVAL.toNanos();
    private long lastNanos;

    /**
     * @param largest bytes of the largest SCTP packet that the local interface takes
     * @param longestInterval longest time between two probes
     */
    PathProbe(InetAddress peer, int largest, Duration longestInterval) {
        this.largest = largest;
        this.longestInterval = longestInterval.toNanos();
        this.packetSize = Math.min(largest, PathMtu.packetSize(peer instanceof Inet4Address, SAFE_MTU));
    }

    /** Returns the bytes of the largest packet that the path is known to carry. */
    int packetSize() {
        return packetSize;
    }

    /** Returns whether a probe is due now. */
    boolean isDue(long nanoTime) {
        return packetSize < largest && (sent == 0 || nanoTime - lastNanos - interval >= 0);
    }

    /**
     * Writes a probe behind the common header.
     *
     * @return the length of the packet in bytes
     */
    int write(WireBuffer packet, long nanoTime) {
        SctpPacketFlyweight.chunk(packet, HEARTBEAT, SctpPacketFlyweight.HEARTBEAT, 0, HEARTBEAT_LENGTH);
        int info = HEARTBEAT + SctpPacketFlyweight.CHUNK_HEADER_LENGTH;
        packet.putShort(info, INFO_PARAMETER);
        packet.putShort(info + 2, INFO_LENGTH);
        packet.putLong(info + 4, nonce);
        SctpPacketFlyweight.chunk(packet, PAD, SctpPacketFlyweight.PAD, 0, largest - PAD);
        int padding = PAD + SctpPacketFlyweight.CHUNK_HEADER_LENGTH;
        // The buffer may hold data that was sent to another peer.
        packet.segment().asSlice(padding, largest - padding).fill((byte) 0);
        if (sent > 0) {
            interval = Math.min(2 * interval, longestInterval);
        }
        sent++;
        lastNanos = nanoTime;
        return largest;
    }

    /** Returns how many probes were sent so far. */
    int sent() {
        return sent;
    }

    /** Takes a HEARTBEAT ACK, which may also answer a HEARTBEAT of SCTP itself. Returns whether it answers a probe. */
    boolean onAnswer(WireBuffer packet, int chunk) {
        int info = chunk + SctpPacketFlyweight.CHUNK_HEADER_LENGTH;
        if (SctpPacketFlyweight.chunkLength(packet, chunk) != HEARTBEAT_LENGTH
                || packet.getUnsignedShort(info) != INFO_PARAMETER
                || packet.getLong(info + 4) != nonce) {
            return false;
        }
        packetSize = largest;
        return true;
    }
}
