// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.service.testing.Waiting;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import org.junit.jupiter.api.Test;

class AddressResolverTest {

    @Test
    void anAddressOfALinkKeepsItsZone() throws Exception {
        NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());

        InetAddress byNumber = AddressResolver.remote("fe80::1%" + loopback.getIndex(), 1);

        assertThat(byNumber).isEqualTo(InetAddress.ofLiteral("fe80::1"));
        assertThat(((Inet6Address) byNumber).getScopeId()).isEqualTo(loopback.getIndex());
    }

    @Test
    void aZoneThatThereIsNotIsRefused() {
        Status status = Waiting.status(() -> AddressResolver.remote("fe80::1%no-such-link", 1));

        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).contains("fe80::1%no-such-link", "interface");
    }

    @Test
    void aNameIsNoAddress() {
        assertThat(AddressResolver.remote("peer.example", 1)).isNull();
        assertThat(AddressResolver.remote("192.0.2.1", 1)).isEqualTo(InetAddress.ofLiteral("192.0.2.1"));
        assertThat(AddressResolver.remote("2001:db8::1", 1)).isEqualTo(InetAddress.ofLiteral("2001:db8::1"));
    }
}
