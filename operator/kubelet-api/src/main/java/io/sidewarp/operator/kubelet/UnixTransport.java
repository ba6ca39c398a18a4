// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** One event loop for gRPC on Unix sockets, with epoll if available, otherwise with the JDK's transport. */
public final class UnixTransport implements AutoCloseable {

    /** Largest message that the kubelet sends: its own limit for pod resources. */
    private static final int MAX_MESSAGE = 16 << 20;

    private static final long CLOSE_SECONDS = 5;

    private final boolean epoll;
    private final EventLoopGroup group;

    /** @param threadName prefix of the name of the event loop's thread */
    public UnixTransport(String threadName) {
        this(threadName, Epoll.isAvailable());
    }

    /** @param epoll true for the native transport of Linux, false for the JDK's */
    UnixTransport(String threadName, boolean epoll) {
        this.epoll = epoll;
        DefaultThreadFactory threads = new DefaultThreadFactory(threadName, true);
        group = epoll ? new EpollEventLoopGroup(1, threads) : new NioEventLoopGroup(1, threads);
    }

    /** Creates a channel to the server at a socket. The channel connects at the first call. */
    public ManagedChannel channel(Path socket) {
        return NettyChannelBuilder.forAddress(address(socket))
                .eventLoopGroup(group)
                .channelType(epoll ? EpollDomainSocketChannel.class : NioDomainSocketChannel.class)
                // gRPC sets SO_KEEPALIVE for every connection, and Netty warns that a Unix socket does not support it.
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .overrideAuthority("localhost")
                .usePlaintext()
                .disableServiceConfigLookUp()
                .maxInboundMessageSize(MAX_MESSAGE)
                .build();
    }

    NettyServerBuilder server(Path socket) {
        return NettyServerBuilder.forAddress(address(socket))
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .channelType(epoll ? EpollServerDomainSocketChannel.class : NioServerDomainSocketChannel.class)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .maxInboundMessageSize(MAX_MESSAGE);
    }

    private SocketAddress address(Path socket) {
        return epoll ? new DomainSocketAddress(socket.toString()) : UnixDomainSocketAddress.of(socket);
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(2 * CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
