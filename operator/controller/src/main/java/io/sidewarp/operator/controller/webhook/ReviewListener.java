// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Listener for connections of the API server, directly on Netty. A framework's HTTP server counts connections only
 * after their handshake. It limits neither the total size of bodies nor the time for a body.
 */
final class ReviewListener implements AutoCloseable {
    /** Number of event loops. One thread for all connections counts them in the order in which they were accepted. */
    private static final int EVENT_LOOPS = 1;

    private final EventLoopGroup loops = new NioEventLoopGroup(EVENT_LOOPS, new DefaultThreadFactory("webhook", true));
    private final ChannelGroup channels = new DefaultChannelGroup(loops.next());

    /** Threads for decisions, which may have to ask the API server. {@link ReviewBudget} bounds their memory. */
    private final ExecutorService decisions = Executors.newVirtualThreadPerTaskExecutor();

    private final OperatorConfig.Webhook config;
    private final X509ExtendedKeyManager keys;
    private final Reviewer reviewer;
    private final ReviewConnections connections;
    private @Nullable Channel listening;

    /** @param tally called for each connection that is cut off */
    ReviewListener(OperatorConfig.Webhook config, X509ExtendedKeyManager keys, Reviewer reviewer, Runnable tally) {
        this.config = config;
        this.keys = keys;
        this.reviewer = reviewer;
        this.connections = new ReviewConnections(config.connections(), config.pendingOctets(), tally);
    }

    /** Starts to listen, and returns the port. */
    int start() throws IOException {
        SslContext tls = SslContextBuilder.forServer(keys)
                .protocols("TLSv1.3", "TLSv1.2")
                .sessionCacheSize(config.connections())
                .build();
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connections.open(channel).ifPresent(connection -> {
                            channels.add(channel);
                            SslHandler handshake = tls.newHandler(channel.alloc());
                            // The time limit of the first request includes the handshake.
                            handshake.setHandshakeTimeoutMillis(0);
                            channel.pipeline()
                                    .addLast(
                                            handshake,
                                            new HttpServerCodec(),
                                            new ReviewHandler(connection, config, decisions, reviewer));
                        });
                    }
                })
                .bind(new InetSocketAddress(config.host(), config.port()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause().getMessage(), bound.cause());
        }
        listening = bound.channel();
        return ((InetSocketAddress) bound.channel().localAddress()).getPort();
    }

    /**
     * Continues to serve for a while, because API servers do not know about the shutdown yet. Each connection ends
     * after its next answer, so that its client goes to another replica. Then accepts no more connections, and returns
     * when all begun requests are answered or have run out of time.
     */
    void drain() throws InterruptedException {
        connections.endBehindAnswers();
        Thread.sleep(config.shutdownDelay().toMillis());
        Channel socket = listening;
        if (socket != null) {
            socket.close().await();
        }
        channels.forEach(channel -> channel.pipeline().fireUserEventTriggered(ReviewHandler.END));
        channels.newCloseFuture().await(config.requestTimeout().toMillis());
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        decisions.shutdownNow();
    }
}
