// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Writes and reads struct sockaddr_in and sockaddr_in6. Several addresses are packed one after the other, as SCTP
 * options require.
 */
public final class SocketAddresses {

    /** Values of AF_INET and AF_INET6. */
    private static final int IPV4_FAMILY = 2;

    private static final int IPV6_FAMILY = 10;

    private static final ValueLayout.OfShort FAMILY = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt SCOPE = ValueLayout.JAVA_INT_UNALIGNED;

    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV4_LENGTH = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_LENGTH = 16;
    private static final int SCOPE_OFFSET = 24;
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;

    private SocketAddresses() {}

    /** Returns the domain of a socket that can use all these addresses. */
    public static int domain(List<InetAddress> addresses) {
        return addresses.stream().anyMatch(Inet6Address.class::isInstance) ? IPV6_FAMILY : IPV4_FAMILY;
    }

    /**
     * Writes the addresses with the port, from offset 0.
     *
     * @return bytes written
     */
    public static int write(MemorySegment into, List<InetAddress> addresses, int port) {
        int length = 0;
        for (InetAddress address : addresses) {
            length += write(into, length, address, port);
        }
        return length;
    }

    private static int write(MemorySegment into, int offset, InetAddress address, int port) {
        byte[] octets = address.getAddress();
        boolean six = octets.length == IPV6_LENGTH;
        int length = six ? SOCKADDR_IN6_LENGTH : SOCKADDR_IN_LENGTH;
        into.asSlice(offset, length).fill((byte) 0);
        into.set(FAMILY, offset, (short) (six ? IPV6_FAMILY : IPV4_FAMILY));
        into.set(PORT, offset + PORT_OFFSET, (short) port);
        int start = offset + (six ? IPV6_OFFSET : IPV4_OFFSET);
        MemorySegment.copy(MemorySegment.ofArray(octets), 0, into, start, octets.length);
        if (address instanceof Inet6Address scoped) {
            into.set(SCOPE, offset + SCOPE_OFFSET, scoped.getScopeId());
        }
        return length;
    }

    /** Returns the address at an offset. An IPv4 address that is mapped into IPv6 is returned as an IPv4 address. */
    public static InetSocketAddress read(MemorySegment from, int offset) {
        boolean six = from.get(FAMILY, offset) == IPV6_FAMILY;
        byte[] octets = new byte[six ? IPV6_LENGTH : IPV4_LENGTH];
        MemorySegment.copy(
                from, offset + (six ? IPV6_OFFSET : IPV4_OFFSET), MemorySegment.ofArray(octets), 0, octets.length);
        int port = Short.toUnsignedInt(from.get(PORT, offset + PORT_OFFSET));
        try {
            return new InetSocketAddress(InetAddress.getByAddress(octets), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("4 and 16 octets are addresses", e);
        }
    }

    /** Returns the bytes of the address at an offset. */
    public static int length(MemorySegment from, int offset) {
        return from.get(FAMILY, offset) == IPV6_FAMILY ? SOCKADDR_IN6_LENGTH : SOCKADDR_IN_LENGTH;
    }
}
