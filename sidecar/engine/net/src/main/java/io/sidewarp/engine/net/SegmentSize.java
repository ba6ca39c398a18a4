// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of a segment of a TCP connection (EMSS, RFC 5044 section 2), which change with the path. The kernel is asked
 * periodically while the peer has not acknowledged all output. Belongs to one loop.
 */
final class SegmentSize {

    /** Interval between two questions to the kernel. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final SocketChannel channel;
    private final LoopResources resources;
    private final Runnable onChange;
    private final Runnable look = this::look;
    private @Nullable ScheduledFuture<?> scheduled;
    private int emss;
    private long calls;

    /**
     * @param initial bytes of a segment, where the operating system does not tell
     * @param onChange runs when {@link #emss} has changed outside of a call
     */
    SegmentSize(SocketChannel channel, LoopResources resources, int initial, Runnable onChange) {
        this.channel = channel;
        this.resources = resources;
        this.emss = initial;
        this.onChange = onChange;
    }

    /** Returns the segment size that the kernel told recently. */
    int emss() {
        if (isDue(calls++)) {
            ask();
        }
        return emss;
    }

    /**
     * Returns whether a call asks the kernel. The first calls do so often.
     *
     * @param call number of earlier calls
     */
    static boolean isDue(long call) {
        return Long.bitCount(call) <= 1;
    }

    /** Returns the last result of {@link #emss} without asking the kernel. */
    int last() {
        return emss;
    }

    /** Starts the periodic questions when the peer has something to acknowledge. Cheap to repeat. */
    void onOutput() {
        if (scheduled == null && channel instanceof EpollSocketChannel) {
            scheduled = channel.eventLoop().schedule(look, PERIOD_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    /** Ends the questions with the connection. Otherwise the loop would keep the connection until the timer expires. */
    void end() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }

    private void look() {
        scheduled = null;
        int before = emss;
        if (ask()) {
            onOutput();
        }
        if (emss != before) {
            onChange.run();
        }
    }

    /** @return whether the peer has something to acknowledge */
    private boolean ask() {
        if (!(channel instanceof EpollSocketChannel epoll) || !epoll.isOpen()) {
            return false;
        }
        EpollTcpInfo info = resources.tcpInfo();
        epoll.tcpInfo(info);
        if (info.sndMss() > 0) {
            emss = (int) info.sndMss();
        }
        return info.unacked() > 0;
    }
}
