// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.network;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** An IPv4 packet, and its TCP segment if it has one (RFC 791, RFC 9293). */
public final class IpPacket {

    private static final int TCP = 6;
    private static final int FLAGS_OFFSET = 6;
    private static final int DONT_FRAGMENT = 0x4000;
    private static final int MORE_FRAGMENTS = 0x2000;
    private static final int HEADER_CHECKSUM_OFFSET = 10;
    private static final int PROTOCOL_OFFSET = 9;
    private static final int ADDRESSES_OFFSET = 12;
    private static final int TCP_CHECKSUM_OFFSET = 16;
    private static final int WINDOW_SCALE_OPTION = 3;

    private final ByteBuffer octets;
    private final int headerLength;
    private final int totalLength;

    IpPacket(byte[] octets) {
        this.octets = ByteBuffer.wrap(octets);
        this.headerLength = (octets[0] & 0xf) * 4;
        this.totalLength = Short.toUnsignedInt(this.octets.getShort(2));
    }

    byte[] octets() {
        return octets.array();
    }

    /** Total length in octets. */
    public int length() {
        return totalLength;
    }

    public boolean dontFragment() {
        return (octets.getShort(FLAGS_OFFSET) & DONT_FRAGMENT) != 0;
    }

    public boolean isTcp() {
        return octets.get(0) >> 4 == 4 && octets.get(PROTOCOL_OFFSET) == TCP;
    }

    public long sequence() {
        return Integer.toUnsignedLong(octets.getInt(headerLength + 4));
    }

    public long acknowledgment() {
        return Integer.toUnsignedLong(octets.getInt(headerLength + 8));
    }

    public boolean isSyn() {
        return (octets.get(headerLength + 13) & 0x02) != 0;
    }

    public boolean hasAck() {
        return (octets.get(headerLength + 13) & 0x10) != 0;
    }

    public boolean isReset() {
        return (octets.get(headerLength + 13) & 0x04) != 0;
    }

    /** The window field, not scaled. */
    public int window() {
        return Short.toUnsignedInt(octets.getShort(headerLength + 14));
    }

    /** The shift of the window scale option of a SYN, zero without one. */
    public int windowScale() {
        int at = headerLength + 20;
        int end = payloadOffset();
        while (at < end) {
            int kind = octets.get(at);
            if (kind == 0) {
                break;
            }
            if (kind == WINDOW_SCALE_OPTION) {
                return octets.get(at + 2);
            }
            at += kind == 1 ? 1 : Math.max(2, octets.get(at + 1));
        }
        return 0;
    }

    private int payloadOffset() {
        return headerLength + ((octets.get(headerLength + 12) >> 4) & 0xf) * 4;
    }

    /** Octets of the stream that the segment carries. */
    public int payloadLength() {
        return totalLength - payloadOffset();
    }

    /** An octet of the stream, as an unsigned number. */
    public int payload(int index) {
        return octets.get(payloadOffset() + index) & 0xff;
    }

    /** Returns the same segment with every byte of its payload inverted and a matching checksum. */
    public IpPacket withOtherPayload() {
        IpPacket other = new IpPacket(octets.array().clone());
        for (int i = payloadOffset(); i < totalLength; i++) {
            other.octets.put(i, (byte) ~octets.get(i));
        }
        other.octets.putShort(headerLength + TCP_CHECKSUM_OFFSET, (short) 0);
        other.octets.putShort(headerLength + TCP_CHECKSUM_OFFSET, other.tcpChecksum());
        return other;
    }

    /** The same packet in pieces, each with at most so many octets of payload, a multiple of 8 (RFC 791 section 2.3). */
    public List<IpPacket> fragments(int size) {
        List<IpPacket> fragments = new ArrayList<>();
        for (int from = headerLength; from < totalLength; from += size) {
            int length = Math.min(size, totalLength - from);
            ByteBuffer fragment = ByteBuffer.allocate(headerLength + length);
            fragment.put(octets.array(), 0, headerLength).put(octets.array(), from, length);
            boolean more = from + length < totalLength;
            fragment.putShort(2, (short) (headerLength + length));
            fragment.putShort(FLAGS_OFFSET, (short) ((more ? MORE_FRAGMENTS : 0) | (from - headerLength) / 8));
            fragment.putShort(HEADER_CHECKSUM_OFFSET, (short) 0);
            fragment.putShort(HEADER_CHECKSUM_OFFSET, checksum(fragment, 0, headerLength, 0));
            fragments.add(new IpPacket(fragment.array()));
        }
        return fragments;
    }

    private short tcpChecksum() {
        int length = totalLength - headerLength;
        long pseudoHeader = (long) TCP + length;
        for (int i = ADDRESSES_OFFSET; i < ADDRESSES_OFFSET + 8; i += 2) {
            pseudoHeader += Short.toUnsignedInt(octets.getShort(i));
        }
        return checksum(octets, headerLength, totalLength, pseudoHeader);
    }

    /** The Internet checksum (RFC 1071) of a range, on top of a sum. */
    private static short checksum(ByteBuffer octets, int from, int to, long start) {
        long sum = start;
        for (int i = from; i + 1 < to; i += 2) {
            sum += Short.toUnsignedInt(octets.getShort(i));
        }
        if ((to - from) % 2 != 0) {
            sum += (octets.get(to - 1) & 0xff) << 8;
        }
        while (sum >> 16 != 0) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        return (short) ~sum;
    }
}
