// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.sidewarp.service.server.Transports;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;

/** Makes channels to the address of a Workload API: {@code unix:///PATH} or {@code tcp://ADDRESS:PORT}. */
final class WorkloadApiChannel {

    private static final String UNIX = "unix:";

    private WorkloadApiChannel() {}

    static ManagedChannel create(String address, Transports transports) {
        boolean unix = address.startsWith(UNIX);
        // A path as authority would be no valid one (RFC 3986), and some servers refuse it.
        return NettyChannelBuilder.forAddress(unix ? unix(address, transports) : tcp(address))
                .channelType(unix ? transports.unixClient() : transports.tcpClient())
                .eventLoopGroup(transports.group())
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
    }

    private static SocketAddress unix(String address, Transports transports) {
        return transports.unixAddress(Path.of(address.substring(UNIX.length()).replaceFirst("^//", "")));
    }

    private static SocketAddress tcp(String address) {
        URI uri = URI.create(address);
        return new InetSocketAddress(uri.getHost(), uri.getPort());
    }
}
