// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Opens TCP connections. */
public final class TcpConnector {

    private TcpConnector() {}

    /**
     * Connects. The caller and the operating system limit the time.
     *
     * @param loop that will own the connection
     * @param remote resolved
     * @param onConnected called on the loop before any byte moves; must bind the transport
     * @return completes when {@code onConnected} has returned. Fails with the error of the operating system, or with
     *     the exception of {@code onConnected}. Cancelling it ends the attempt.
     */
    public static CompletableFuture<Void> connect(
            EngineLoops loops, EventLoop loop, InetSocketAddress remote, Consumer<TcpTransport> onConnected) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(loops.channelType())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new TcpTransport((SocketChannel) channel, loops));
                    }
                });
        loops.tellAgain(bootstrap::option);
        ChannelFuture connect = bootstrap.connect(remote);
        result.whenComplete((ignored, failure) -> {
            if (result.isCancelled()) {
                connect.channel().close();
            }
        });
        connect.addListener(ignored -> {
            if (!connect.isSuccess()) {
                result.completeExceptionally(connect.cause());
                return;
            }
            if (result.isDone()) {
                // Cancelled in the same turn of the loop.
                connect.channel().close();
                return;
            }
            try {
                onConnected.accept(connect.channel().pipeline().get(TcpTransport.class));
                result.complete(null);
            } catch (RuntimeException | Error e) {
                loops.onFault(e);
                connect.channel().close();
                result.completeExceptionally(e);
            }
        });
        return result;
    }
}
