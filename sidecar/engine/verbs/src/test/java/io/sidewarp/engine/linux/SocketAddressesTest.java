// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SocketAddressesTest {

    private final MemorySegment memory = MemorySegment.ofArray(new byte[64]);

    private String octets(int length) {
        return HexFormat.of().formatHex(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void severalAddressesStandBehindEachOther() throws Exception {
        memory.fill((byte) 0xff);
        InetAddress four = InetAddress.getByName("192.0.2.7");
        InetAddress six = InetAddress.getByName("2001:db8::9");

        int length = SocketAddresses.write(memory, List.of(four, six), 5043);

        // sockaddr_in: family 2, port, address, 8 octets of nothing; sockaddr_in6: family 10, port, flow, address,
        // scope.
        assertThat(length).isEqualTo(16 + 28);
        assertThat(octets(length))
                .isEqualTo("0200" + "13b3" + "c0000207" + "0000000000000000" + "0a00" + "13b3" + "00000000"
                        + "20010db8000000000000000000000009" + "00000000");
        assertThat(SocketAddresses.length(memory, 0)).isEqualTo(16);
        assertThat(SocketAddresses.length(memory, 16)).isEqualTo(28);
        assertThat(SocketAddresses.read(memory, 0)).isEqualTo(new InetSocketAddress(four, 5043));
        assertThat(SocketAddresses.read(memory, 16)).isEqualTo(new InetSocketAddress(six, 5043));
    }

    @Test
    void anAddressOfIpv4ThatIsMappedIntoIpv6IsReadAsWhatItIs() throws Exception {
        byte[] mapped =
                HexFormat.of().parseHex("0a001f40" + "00000000" + "00000000000000000000ffffc0000207" + "00000000");
        MemorySegment.copy(MemorySegment.ofArray(mapped), 0, memory, 0, mapped.length);

        assertThat(SocketAddresses.read(memory, 0))
                .isEqualTo(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 8000));
    }

    @Test
    void aSocketIsOfIpv6WhereOneOfItsAddressesIs() throws Exception {
        InetAddress four = InetAddress.getByName("192.0.2.7");
        InetAddress six = InetAddress.getByName("2001:db8::9");

        assertThat(SocketAddresses.domain(List.of(four))).isEqualTo(2);
        assertThat(SocketAddresses.domain(List.of(four, six))).isEqualTo(10);
    }
}
