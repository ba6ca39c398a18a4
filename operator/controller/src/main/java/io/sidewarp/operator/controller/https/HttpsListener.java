// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

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
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * HTTPS server on Netty. A framework's HTTP server counts connections only
 * after their handshake. It limits neither the total size of bodies nor the time for a body.
 */
public final class HttpsListener implements AutoCloseable {
    /** Number of event loops. One thread for all connections counts them in the order in which they were accepted. */
    private static final int EVENT_LOOPS = 1;

    /** Time before the next attempt to listen. */
    private static final Duration RETRY = Duration.ofSeconds(2);

    private final EventLoopGroup loops;
    private final ChannelGroup channels;

    /** Threads for answers, which may have to ask the API server. The responder bounds their memory. */
    private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();

    private final String name;
    private final Limits limits;
    private final X509ExtendedKeyManager keys;
    private final Responder responder;
    private final Connections connections;
    private volatile @Nullable Channel listening;

    /**
     * @param name name of the server, for its thread and its log
     * @param tally called for each connection that is cut off
     */
    public HttpsListener(String name, Limits limits, X509ExtendedKeyManager keys, Responder responder, Runnable tally) {
        this.name = name;
        this.limits = limits;
        this.keys = keys;
        this.responder = responder;
        this.connections = new Connections(limits.connections(), limits.pendingOctets(), tally);
        this.loops = new NioEventLoopGroup(EVENT_LOOPS, new DefaultThreadFactory(name, true));
        this.channels = new DefaultChannelGroup(loops.next());
    }

    /**
     * Starts to listen. After a failure, for instance because the port is in use, tries again until {@link #close}.
     *
     * @param port port to listen at, 0 for any free one
     * @param onListening gets the port, in this call or in another thread
     * @param onFailure gets the reason of each failed attempt that differs from the reason before
     */
    public void startPatiently(String host, int port, IntConsumer onListening, Consumer<String> onFailure) {
        String reason = attempt(host, port, onListening);
        if (reason.isEmpty()) {
            return;
        }
        onFailure.accept(reason);
        answers.execute(() -> {
            String told = reason;
            try {
                while (!told.isEmpty()) {
                    Thread.sleep(RETRY);
                    String next = attempt(host, port, onListening);
                    if (!next.isEmpty() && !next.equals(told)) {
                        onFailure.accept(next);
                    }
                    told = next;
                }
            } catch (InterruptedException e) {
                // Closed.
            }
        });
    }

    /** Returns why this server does not listen. Empty if it does. */
    private String attempt(String host, int port, IntConsumer onListening) {
        try {
            onListening.accept(start(host, port));
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * Starts to listen, and returns the port.
     *
     * @param port port to listen at, 0 for any free one
     */
    public int start(String host, int port) throws IOException {
        SslContext tls = SslContextBuilder.forServer(keys)
                .protocols("TLSv1.3", "TLSv1.2")
                .sessionCacheSize(limits.connections())
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
                                            new RequestHandler(name, connection, limits, answers, responder));
                        });
                    }
                })
                .bind(new InetSocketAddress(host, port))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause().getMessage(), bound.cause());
        }
        listening = bound.channel();
        return ((InetSocketAddress) bound.channel().localAddress()).getPort();
    }

    /**
     * Continues to serve for a while, because clients do not know about the shutdown yet. Each connection ends
     * after its next answer, so that its client goes to another replica. Then accepts no more connections, and returns
     * when all begun requests are answered or have run out of time.
     */
    public void drain() throws InterruptedException {
        connections.endBehindAnswers();
        Thread.sleep(limits.shutdownDelay().toMillis());
        Channel socket = listening;
        if (socket != null) {
            socket.close().await();
        }
        channels.forEach(channel -> channel.pipeline().fireUserEventTriggered(RequestHandler.END));
        channels.newCloseFuture().await(limits.requestTimeout().toMillis());
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        answers.shutdownNow();
    }
}
