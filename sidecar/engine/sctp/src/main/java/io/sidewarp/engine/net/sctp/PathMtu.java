// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/**
 * Sizes on a path of SCTP in UDP (RFC 6951 section 5.6). The largest size comes from the local interface and the
 * settings. {@link PathProbe} finds out whether the path carries it. ICMP is not used (section 5.5).
 */
final class PathMtu {

    private static final int IPV4_HEADER_LENGTH = 20;
    private static final int IPV6_HEADER_LENGTH = 40;
    private static final int UDP_HEADER_LENGTH = 8;
    /** Largest IP packet, less room for packets that become slightly larger (see {@link UdpChannel}). */
    private static final int LARGEST_IP_PACKET = 65535 - 255;

    private static final int ETHERNET_MTU = 1500;

    /** Smallest packet size. Holds {@link SctpSettings#LEAST_MESSAGE} and a SACK. */
    private static final int LEAST_PACKET = SctpPacketFlyweight.COMMON_HEADER_LENGTH
            + SctpPacketFlyweight.DATA_HEADER_LENGTH
            + SctpPacketFlyweight.SACK_LENGTH
            + (SctpSettings.LEAST_MESSAGE + 3 & ~3);

    private PathMtu() {}

    /**
     * Returns the bytes of the largest SCTP packet from a local address, a multiple of 4. Where less fits, IP fragments
     * the packet, because a DDP Segment of 516 octets must be carried (RFC 5043 section 9).
     */
    static int packetSize(InetAddress local, int maxPathMtu) {
        int mtu = Math.min(interfaceMtu(local), LARGEST_IP_PACKET);
        return packetSize(local instanceof Inet4Address, maxPathMtu == 0 ? mtu : Math.min(mtu, maxPathMtu));
    }

    /** Returns the bytes of the largest SCTP packet in an IP packet of the given size, a multiple of 4. */
    static int packetSize(boolean ipv4, int mtu) {
        int ip = ipv4 ? IPV4_HEADER_LENGTH : IPV6_HEADER_LENGTH;
        return Math.max(LEAST_PACKET, mtu - ip - UDP_HEADER_LENGTH & ~3);
    }

    /**
     * Returns the bytes of the largest user message that leaves room for a SACK in a packet of the given size (RFC 5043
     * section 9). The result is a multiple of 4, because chunks are padded to that.
     */
    static int messageSize(int packetSize) {
        return packetSize
                        - SctpPacketFlyweight.COMMON_HEADER_LENGTH
                        - SctpPacketFlyweight.DATA_HEADER_LENGTH
                        - SctpPacketFlyweight.SACK_LENGTH
                & ~3;
    }

    private static int interfaceMtu(InetAddress local) {
        try {
            NetworkInterface device = NetworkInterface.getByInetAddress(local);
            return device == null ? ETHERNET_MTU : device.getMTU();
        } catch (SocketException e) {
            return ETHERNET_MTU;
        }
    }
}
