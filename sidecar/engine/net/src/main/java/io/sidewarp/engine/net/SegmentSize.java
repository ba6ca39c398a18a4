// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.socket.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * Bytes of a segment of a TCP connection (EMSS, RFC 5044 section 2), which change with the path. The kernel is asked
 * periodically while the peer has not acknowledged all output. Belongs to one loop.
 */
final class SegmentSize {

    /** Interval between two questions to the kernel. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Bytes of a segment where the operating system does not tell. */
    private static final int DEFAULT_EMSS = 1448;

    private final SocketChannel channel;
    private final LoopResources resources;
    private final Runnable onChange;
    private final LoopTimer look;
    private int emss = DEFAULT_EMSS;
    private long calls;

    /**
     * @param onChange runs when {@link #emss} has changed outside of a call
     */
    SegmentSize(SocketChannel channel, LoopResources resources, Runnable onChange) {
        this.channel = channel;
        this.resources = resources;
        this.onChange = onChange;
        this.look = new LoopTimer(channel.eventLoop(), this::look);
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
        if (channel instanceof EpollSocketChannel) {
            look.start(PERIOD_NANOS);
        }
    }

    /** Ends the questions with the connection. Otherwise the loop would keep the connection until the timer expires. */
    void end() {
        look.stop();
    }

    private void look() {
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
