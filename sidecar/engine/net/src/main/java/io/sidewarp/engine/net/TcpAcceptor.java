// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Accepts TCP connections at one address. */
public final class TcpAcceptor {

    private static final int ACCEPT_QUEUE = 1024;

    private final Channel channel;

    private TcpAcceptor(Channel channel) {
        this.channel = channel;
    }

    /**
     * Binds and listens.
     *
     * @param loop that will own the connections
     * @param onAccepted called on the loop before any byte moves; must bind the transport
     */
    public static CompletableFuture<TcpAcceptor> listen(
            EngineLoops loops, EventLoop loop, InetSocketAddress address, Consumer<TcpTransport> onAccepted) {
        CompletableFuture<TcpAcceptor> result = new CompletableFuture<>();
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop, loop)
                .channel(loops.serverChannelType())
                .option(ChannelOption.SO_BACKLOG, ACCEPT_QUEUE)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        TcpTransport transport = new TcpTransport((SocketChannel) accepted, loops);
                        accepted.pipeline().addLast(transport);
                        onAccepted.accept(transport);
                    }
                });
        loops.tellAgain(bootstrap::childOption);
        ChannelFuture bind = bootstrap.bind(address);
        bind.addListener(ignored -> {
            if (bind.isSuccess()) {
                result.complete(new TcpAcceptor(bind.channel()));
            } else {
                result.completeExceptionally(bind.cause());
            }
        });
        return result;
    }

    public InetSocketAddress localAddress() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** Stops accepting. */
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> result = new CompletableFuture<>();
        channel.close().addListener(ignored -> result.complete(null));
        return result;
    }
}
