// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollSocketChannelConfig;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.time.Duration;
import java.util.function.Supplier;

/** Sets the options of a connection's socket and channel, before any data moves. */
final class SocketOptions {

    /**
     * Reads in a turn of the loop before other connections get their turn, and before the application learns of the
     * completions. The number is small, so that the application can ask for more before all of the requested data has
     * come.
     *
     * <p>With level-triggered epoll the second read is a task. Requests that the application made meanwhile are read by
     * the loop in the same turn, and go out first. The peer works on them while the rest is placed.
     */
    private static final int READS_PER_TURN = 2;

    /** Number of unanswered probes after which a peer counts as gone. */
    private static final int PROBES = 3;

    private SocketOptions() {}
    /** @param target returns the view to read into, with one reference for the channel */
    static void apply(SocketChannel channel, NetSettings settings, Supplier<ByteBuf> target) {
        channel.config().setTcpNoDelay(true);
        channel.config().setAllowHalfClosure(true);
        // When a write fails, the last input of the peer may still be in the socket.
        channel.config().setAutoClose(false);
        keepAlive(channel, settings.keepAlive());
        CongestionControl.apply(channel, settings.congestionControl());
        boolean toldAgain = EngineLoops.tellsAgain(channel);
        channel.config()
                .setRecvByteBufAllocator(new StagingAllocator(
                        target, settings.stagingCapacity(), toldAgain ? 1 : READS_PER_TURN, toldAgain));
        // One buffer is written at a time; "writable" then means that the socket took all of it.
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1));
    }

    /**
     * Lets TCP detect a peer that disappeared silently while this side sends nothing to it. After the idle time
     * {@link #PROBES} probes follow, within the same time again. An operating system that does not accept these times
     * uses its own. {@link UserTimeout} detects the other peers.
     */
    static void keepAlive(SocketChannel channel, Duration idle) {
        SocketChannelConfig config = channel.config();
        config.setKeepAlive(!idle.isZero());
        if (!idle.isZero() && config instanceof EpollSocketChannelConfig epoll) {
            int seconds = Math.toIntExact(idle.toSeconds());
            epoll.setTcpKeepIdle(seconds);
            epoll.setTcpKeepIntvl(Math.max(1, seconds / PROBES));
            epoll.setTcpKeepCnt(PROBES);
        }
    }
}
