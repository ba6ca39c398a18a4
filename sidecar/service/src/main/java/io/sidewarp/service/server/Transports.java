// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.server;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.sidewarp.engine.net.EngineLoops;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Event loops of the sidecar, shared by the API, the management listener and the engine. They use epoll where it is
 * available, else NIO.
 */
public final class Transports implements AutoCloseable {

    private static final long CLOSE_SECONDS = 2;

    private final boolean epoll = Epoll.isAvailable();
    private final EventLoopGroup group;

    /**
     * @param loops number of threads
     * @param busyPoll maximum time that an idle loop polls before it sleeps
     */
    public Transports(int loops, Duration busyPoll) {
        group = EngineLoops.newGroup(loops, busyPoll);
    }

    public EventLoopGroup group() {
        return group;
    }

    /** Returns whether native epoll is available, and with it the credentials of peers. */
    public boolean isEpoll() {
        return epoll;
    }

    public Class<? extends ServerChannel> tcpServer() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    public Class<? extends ServerChannel> unixServer() {
        return epoll ? EpollServerDomainSocketChannel.class : NioServerDomainSocketChannel.class;
    }

    public Class<? extends Channel> tcpClient() {
        return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    public Class<? extends Channel> unixClient() {
        return epoll ? EpollDomainSocketChannel.class : NioDomainSocketChannel.class;
    }

    public SocketAddress unixAddress(Path path) {
        return epoll ? new DomainSocketAddress(path.toString()) : UnixDomainSocketAddress.of(path);
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(2 * CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
