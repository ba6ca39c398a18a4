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
 * How many octets a segment of a TCP connection takes (EMSS, RFC 5044 section 2), which changes with the path. The kernel is
 * asked from time to time while it has output that the peer has not acknowledged. Belongs to one loop.
 */
final class SegmentSize {

    /** How often the kernel is asked. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final SocketChannel channel;
    private final LoopResources resources;
    private final Runnable onChange;
    private final Runnable look = this::look;
    private @Nullable ScheduledFuture<?> scheduled;
    private int emss;
    private long calls;

    /**
     * @param initial octets, where the operating system does not tell
     * @param onChange runs when {@link #emss} has changed outside of a call
     */
    SegmentSize(SocketChannel channel, LoopResources resources, int initial, Runnable onChange) {
        this.channel = channel;
        this.resources = resources;
        this.emss = initial;
        this.onChange = onChange;
    }

    /** As the kernel told lately. */
    int emss() {
        if (isDue(calls++)) {
            ask();
        }
        return emss;
    }

    /**
     * Whether the kernel is asked by a call, as the first ones do often.
     *
     * @param call how many there were before
     */
    static boolean isDue(long call) {
        return Long.bitCount(call) <= 1;
    }

    /** What {@link #emss} returned last. */
    int last() {
        return emss;
    }

    /** There is something for the peer to acknowledge. Cheap to repeat. */
    void onOutput() {
        if (scheduled == null && channel instanceof EpollSocketChannel) {
            scheduled = channel.eventLoop().schedule(look, PERIOD_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    /** The connection is over. Without this the loop would keep it until the time is over. */
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
