// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC channel and its event loop. One connection has one event loop whatever the number of threads, so there is one
 * thread. Callbacks run directly on it, without a hop to another executor.
 */
final class Transport implements AutoCloseable {

    /** Maximum size of a response in bytes, enough for a listing of many thousand connections. */
    private static final int MAX_INBOUND_MESSAGE = 64 << 20;

    /**
     * Fixed window in bytes: there are no bandwidth probes, and a loaded region flows without waiting for window
     * updates.
     */
    private static final int FLOW_CONTROL_WINDOW = 4 << 20;

    private final EventLoopGroup group;
    private final ManagedChannel channel;

    Transport(Target target) {
        this(target, Epoll.isAvailable());
    }

    /**
     * Opens the channel.
     *
     * @param epoll whether to use Linux' native transport, or else the JDK's
     */
    Transport(Target target, boolean epoll) {
        ThreadFactory threads = LoopThread::new;
        group = epoll ? new EpollEventLoopGroup(1, threads) : new NioEventLoopGroup(1, threads);
        Class<? extends Channel> type;
        SocketAddress address;
        switch (target) {
            case Target.Unix unix -> {
                type = epoll ? EpollDomainSocketChannel.class : NioDomainSocketChannel.class;
                address = epoll
                        ? new DomainSocketAddress(unix.path().toString())
                        : UnixDomainSocketAddress.of(unix.path());
            }
            case Target.Tcp tcp -> {
                type = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
                address = new InetSocketAddress(tcp.host(), tcp.port());
            }
        }
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address)
                .eventLoopGroup(group)
                .channelType(type)
                .overrideAuthority("localhost")
                .usePlaintext()
                .directExecutor()
                // Work requests must not be carried out twice, and the buffers of retries cost time.
                .disableRetry()
                .disableServiceConfigLookUp()
                .flowControlWindow(FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_INBOUND_MESSAGE);
        if (target instanceof Target.Unix) {
            // gRPC sets it for every channel, and Netty warns that a Unix socket does not know it.
            builder.withOption(ChannelOption.SO_KEEPALIVE, null);
        }
        TraceContext.interceptor().ifPresent(builder::intercept);
        channel = builder.build();
    }

    ManagedChannel channel() {
        return channel;
    }

    /**
     * Makes the next call connect if the last connection attempt failed. Otherwise the channel would wait longer and
     * longer between attempts, and meanwhile fail calls with the failure of the last attempt.
     *
     * <p>The channel fails the calls first and changes its state after that, both on the event loop. So the state counts
     * only where the event loop has done with the last failure.
     */
    void connectNow() {
        switch (channel.getState(false)) {
            case IDLE, READY, SHUTDOWN -> {}
            case CONNECTING, TRANSIENT_FAILURE -> {
                CompletableFuture<Void> done = new CompletableFuture<>();
                onEventLoop(() -> {
                    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
                        channel.enterIdle();
                    }
                    done.complete(null);
                });
                done.join();
            }
        }
    }

    /** Runs a task on the event loop; at once if this thread is the event loop. */
    void onEventLoop(Runnable task) {
        EventLoop eventLoop = group.next();
        if (eventLoop.inEventLoop()) {
            task.run();
            return;
        }
        try {
            eventLoop.execute(task);
        } catch (RejectedExecutionException e) {
            // The client is closed and its event loop has ended, so nothing else runs there.
            task.run();
        }
    }

    /** Returns whether this thread is the client's event loop, which must not wait. */
    static boolean isEventLoop() {
        return Thread.currentThread() instanceof LoopThread;
    }

    /** Runs a task on the event loop after a time, unless the client is closed by then. */
    void schedule(Runnable task, long nanos) {
        try {
            group.next().schedule(task, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The client is closed, and nothing else runs there.
        }
    }

    /**
     * Checks that this thread may wait.
     *
     * @throws IllegalStateException on an event loop, where waiting would block the awaited event
     */
    static void checkMayBlock() {
        if (isEventLoop()) {
            throw new IllegalStateException("this call blocks, and the calling thread is the client's event loop:"
                    + " use the asynchronous form here, or call from a thread of your own");
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            if (!(Thread.currentThread() instanceof LoopThread)) {
                channel.awaitTermination(5, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        }
    }

    /** A thread of an event loop, recognisable by its class. */
    private static final class LoopThread extends FastThreadLocalThread {

        LoopThread(Runnable work) {
            super(work, "sidewarp-client");
            setDaemon(true);
        }
    }
}
