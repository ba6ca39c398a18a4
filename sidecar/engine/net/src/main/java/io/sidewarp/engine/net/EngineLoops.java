// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelConfig;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollMode;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import io.sidewarp.engine.memory.Quiescence;
import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Event loops that own connections. They use native epoll where it is available, else NIO. */
public final class EngineLoops implements Quiescence, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EngineLoops.class);

    private final EventLoopGroup group;
    private final boolean owned;
    private final NetSettings settings;
    private final Map<EventExecutor, LoopResources> resources = new ConcurrentHashMap<>();
    private final TlsWorkers tlsWorkers = new TlsWorkers();
    private final LongAdder newTlsKeys = new LongAdder();
    private volatile long rekeyRecords = TlsRecordCounts.REKEY_RECORDS;
    private volatile Consumer<Throwable> faultHandler = fault -> LOG.error("a connection failed on this side", fault);
    private volatile Consumer<PeerLimit> limitHandler = limit -> LOG.debug("a peer exceeded the limit {}", limit);

    private EngineLoops(EventLoopGroup group, boolean owned, NetSettings settings) {
        this.group = group;
        this.owned = owned;
        this.settings = settings;
    }

    /**
     * Creates loops that this object owns.
     *
     * @throws IllegalArgumentException see {@link CongestionControl#require}
     */
    public static EngineLoops create(int loops, NetSettings settings) {
        CongestionControl.require(settings.congestionControl());
        return new EngineLoops(newGroup(loops, settings.busyPoll()), true, settings);
    }

    /**
     * Creates event loops with the engine's waiting strategy, for an owner who shares them with others.
     *
     * @param loops number of threads
     * @param busyPoll the longest time that a loop without work polls before it sleeps. Zero never polls, which suits a
     *     machine with only one processor.
     */
    public static EventLoopGroup newGroup(int loops, Duration busyPoll) {
        ThreadPerTaskExecutor threads = new ThreadPerTaskExecutor(new DefaultThreadFactory("sidewarp-loop", true));
        SelectStrategyFactory waiting =
                () -> new AdaptivePolling(busyPoll, System::nanoTime, new YieldBackoff(Thread::yield));
        return Epoll.isAvailable()
                ? new EpollEventLoopGroup(loops, threads, waiting)
                : new NioEventLoopGroup(loops, threads, SelectorProvider.provider(), waiting);
    }

    /** Returns why native epoll is not available, in words for people. Empty where it is available. */
    public static Optional<String> whyNoEpoll() {
        Throwable cause = Epoll.unavailabilityCause();
        if (cause == null) {
            return Optional.empty();
        }
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        // Some of these exceptions have only a file name as their message.
        String reason = cause.getClass().getSimpleName() + ": " + cause.getMessage();
        return Optional.of(
                cause instanceof IOException
                        ? reason + "; Netty must unpack its library: provide 1 MiB of writable space in "
                                + System.getProperty("java.io.tmpdir") + ", the directory of temporary files"
                        : reason);
    }

    /**
     * Uses loops that somebody else owns and closes. They must be epoll or NIO loops, preferably from
     * {@link #newGroup}. Other loops do not poll, and do not tell a stream that they were idle.
     *
     * @throws IllegalArgumentException see {@link CongestionControl#require}
     */
    public static EngineLoops shared(EventLoopGroup group, NetSettings settings) {
        CongestionControl.require(settings.congestionControl());
        return new EngineLoops(group, false, settings);
    }

    /** Sets the handler of exceptions that escaped a connection; that connection is aborted. */
    public void setFaultHandler(Consumer<Throwable> handler) {
        faultHandler = handler;
    }

    /**
     * Sets the handler of peers that lost their connection to a limit. The handler runs on event loops and must not
     * block.
     */
    public void setLimitHandler(Consumer<PeerLimit> handler) {
        limitHandler = handler;
    }

    /** Reports a peer that exceeded a limit. The peer loses its connections on these loops. */
    public void onLimit(PeerLimit limit) {
        tell(limitHandler, limit);
    }

    /** Reports an exception that escaped a connection of these loops. */
    public void onFault(Throwable fault) {
        tell(faultHandler, fault);
    }

    /**
     * Calls a handler. The connection is about to be released, and an exception of the handler must not prevent that.
     */
    private static <T> void tell(Consumer<T> handler, T subject) {
        try {
            handler.accept(subject);
        } catch (RuntimeException | Error e) {
            LOG.error("the handler of {} failed", subject, e);
        }
    }

    public NetSettings settings() {
        return settings;
    }

    /**
     * Returns the loop of the caller if it is one of these, so that work stays on one thread. Otherwise returns the
     * next loop in turn.
     */
    public EventLoop choose() {
        EventExecutor own = ofCaller();
        return own == null ? group.next() : (EventLoop) own;
    }

    /** True when the caller runs on one of these loops and so must not block. */
    public boolean inLoop() {
        return ofCaller() != null;
    }

    private @Nullable EventExecutor ofCaller() {
        for (EventExecutor executor : group) {
            if (executor.inEventLoop()) {
                return executor;
            }
        }
        return null;
    }
    /** Returns whether the given loop is one of these loops. */
    public boolean owns(EventLoop loop) {
        return group.equals(loop.parent());
    }

    boolean isEpoll() {
        return group instanceof EpollEventLoopGroup;
    }

    Class<? extends Channel> channelType() {
        return isEpoll() ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    Class<? extends ServerChannel> serverChannelType() {
        return isEpoll() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Makes epoll level-triggered: epoll reports input as long as there is some. */
    void tellAgain(BiConsumer<ChannelOption<EpollMode>, EpollMode> options) {
        if (isEpoll()) {
            options.accept(EpollChannelOption.EPOLL_MODE, EpollMode.LEVEL_TRIGGERED);
        }
    }

    /** Returns whether epoll reports unread input again: see {@link #tellAgain}. */
    static boolean tellsAgain(Channel channel) {
        return channel.config() instanceof EpollChannelConfig epoll
                && epoll.getEpollMode() == EpollMode.LEVEL_TRIGGERED;
    }

    /**
     * Makes epoll edge-triggered, for a channel without further input. Otherwise a peer that resets such a connection
     * would keep the loop busy. Nothing reads the error until there is output, and epoll reports errors even when
     * nobody asked for them.
     */
    static void tellOnce(Channel channel) {
        if (!channel.isOpen() || !tellsAgain(channel)) {
            return;
        }
        EventLoop loop = channel.eventLoop();
        // The mode can change only while the channel is not registered with epoll. This is the case a moment later.
        channel.deregister().addListener(ignored -> {
            if (channel.isOpen()) {
                channel.config().setOption(EpollChannelOption.EPOLL_MODE, EpollMode.EDGE_TRIGGERED);
                loop.register(channel).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
            }
        });
    }

    /** Returns the type of UDP sockets that these loops serve. */
    public Class<? extends DatagramChannel> datagramChannelType() {
        return isEpoll() ? EpollDatagramChannel.class : NioDatagramChannel.class;
    }

    TlsWorkers tlsWorkers() {
        return tlsWorkers;
    }

    long rekeyRecords() {
        return rekeyRecords;
    }

    /** Sets the number of TLS records under one key, for new connections. Tests set a small number. */
    public void setRekeyRecords(long records) {
        rekeyRecords = records;
    }

    /** Returns how many new keys this side took for TLS. */
    public long newTlsKeys() {
        return newTlsKeys.sum();
    }

    void onNewTlsKey() {
        newTlsKeys.increment();
    }

    LoopResources resources(EventLoop loop) {
        return resources.computeIfAbsent(loop, ignored -> new LoopResources(settings));
    }

    @Override
    public CompletableFuture<Void> afterCurrentWork() {
        List<CompletableFuture<Void>> barriers = new ArrayList<>();
        for (EventExecutor executor : group) {
            CompletableFuture<Void> barrier = new CompletableFuture<>();
            try {
                executor.execute(() -> barrier.complete(null));
            } catch (RejectedExecutionException e) {
                // A loop that has ended does no more work.
                barrier.complete(null);
            }
            barriers.add(barrier);
        }
        return CompletableFuture.allOf(barriers.toArray(CompletableFuture[]::new));
    }

    /** Ends the loops that this object owns, within 5 seconds. */
    @Override
    public void close() {
        tlsWorkers.close();
        if (owned) {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
        }
    }
}
