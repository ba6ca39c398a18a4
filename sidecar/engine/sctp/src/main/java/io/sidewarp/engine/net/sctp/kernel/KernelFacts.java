// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.linux.SocketAddresses;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import io.sidewarp.engine.verbs.AssociationPath;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Asks the kernel for the state of an association. */
final class KernelFacts {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int IPV4_HEADER_LENGTH = 20;
    private static final int IPV6_HEADER_LENGTH = 40;
    private static final int NUMBER_OF_ADDRESSES = 4;

    private final SocketArea area;
    private final KernelSocket socket;
    private final MemorySegment value;

    KernelFacts(SocketArea area, KernelSocket socket) {
        this.area = area;
        this.socket = socket;
        this.value = area.value();
    }

    /**
     * @param submitted messages that were given to the kernel
     * @param unacknowledged how many of them may not have arrived
     */
    SctpAssociationFacts read(long submitted, long unacknowledged) {
        if (!socket.inquire(KernelConstants.SCTP_STATUS, SocketApi.STATUS_LENGTH)) {
            return SctpAssociationFacts.NONE;
        }
        long peerWindow = Integer.toUnsignedLong(value.get(SocketApi.INT, SocketApi.STATUS_PEER_RWND));
        int inbound = Short.toUnsignedInt(value.get(SocketApi.SHORT, SocketApi.STATUS_INBOUND));
        int outbound = Short.toUnsignedInt(value.get(SocketApi.SHORT, SocketApi.STATUS_OUTBOUND));
        InetAddress primary = SocketAddresses.read(value, SocketApi.STATUS_PRIMARY + KernelConstants.SPINFO_ADDRESS)
                .getAddress();
        long pending = Math.max(0, submitted - statistic(KernelConstants.STATS_UNORDERED_SENT));
        return new SctpAssociationFacts(
                paths(primary), peerWindow, inbound, outbound, Math.max(0, unacknowledged - pending), pending);
    }

    /** Returns how many DATA chunks were retransmitted so far. */
    long retransmitted() {
        return statistic(KernelConstants.STATS_RETRANSMITTED);
    }

    private long statistic(int offset) {
        return socket.inquire(KernelConstants.SCTP_GET_ASSOC_STATS, KernelConstants.STATS_LENGTH)
                ? value.get(LONG, offset)
                : 0;
    }

    private List<AssociationPath> paths(InetAddress primary) {
        List<AssociationPath> paths = new ArrayList<>();
        for (byte[] address : addresses()) {
            value.asSlice(0, KernelConstants.PADDRINFO_LENGTH).fill((byte) 0);
            MemorySegment.copy(
                    MemorySegment.ofArray(address), 0, value, KernelConstants.SPINFO_ADDRESS, address.length);
            if (socket.inquire(KernelConstants.SCTP_GET_PEER_ADDR_INFO, KernelConstants.PADDRINFO_LENGTH)) {
                AssociationPath path = path(primary);
                paths.add(path.primary() ? 0 : paths.size(), path);
            }
        }
        return List.copyOf(paths);
    }

    /** Returns the peer's addresses in the kernel's format. */
    private List<byte[]> addresses() {
        List<byte[]> addresses = new ArrayList<>();
        if (socket.inquire(KernelConstants.SCTP_GET_PEER_ADDRS, (int) value.byteSize())) {
            int offset = KernelConstants.GETADDRS_LENGTH;
            for (int left = value.get(SocketApi.INT, NUMBER_OF_ADDRESSES); left > 0; left--) {
                int length = SocketAddresses.length(value, offset);
                addresses.add(value.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
                offset += length;
            }
        }
        return addresses;
    }

    private AssociationPath path(InetAddress primary) {
        InetAddress remote =
                SocketAddresses.read(value, KernelConstants.SPINFO_ADDRESS).getAddress();
        int header = remote instanceof Inet4Address ? IPV4_HEADER_LENGTH : IPV6_HEADER_LENGTH;
        return new AssociationPath(
                remote,
                remote.equals(primary),
                value.get(SocketApi.INT, SocketApi.SPINFO_STATE) == KernelConstants.SCTP_ACTIVE,
                // The kernel reports this value in its own ticks.
                area.tick().multipliedBy(value.get(SocketApi.INT, SocketApi.SPINFO_SRTT)),
                Duration.ofMillis(value.get(SocketApi.INT, SocketApi.SPINFO_RTO)),
                Integer.toUnsignedLong(value.get(SocketApi.INT, SocketApi.SPINFO_CWND)),
                value.get(SocketApi.INT, SocketApi.SPINFO_MTU) - header);
    }
}
