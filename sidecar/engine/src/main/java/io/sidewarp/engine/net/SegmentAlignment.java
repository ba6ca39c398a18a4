// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.ChannelException;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.socket.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Has TCP segments begin with FPDUs (RFC 5044 section 5.1) as far as the kernel can be told; NIO can tell it nothing. */
final class SegmentAlignment {

    /** The kernel probes a closed window after 200 ms at the earliest, with what fits in and not with full segments. */
    private static final long PROBED_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int MOST_POLLS = 100;

    private final @Nullable EpollSocketChannel channel;
    private final EventLoop loop;
    private final Runnable onRestored;
    private final EpollTcpInfo info = new EpollTcpInfo();
    private boolean corked;
    private boolean lost;
    private boolean restoring;

    /**
     * A window that closes cuts a segment short, and all behind it that waits in the socket no longer begin with an FPDU:
     * so little is to wait there.
     *
     * @param unsent octets that may
     * @param onRestored called when output that {@link #restore} held up can go on
     */
    SegmentAlignment(SocketChannel channel, int unsent, Runnable onRestored) {
        this.channel = channel instanceof EpollSocketChannel epoll ? epoll : null;
        this.loop = channel.eventLoop();
        this.onRestored = onRestored;
        if (this.channel != null) {
            this.channel.config().setTcpNotSentLowAt(unsent);
        }
    }

    /**
     * While there is much to send TCP sends full segments only. Without this a socket that takes part of a buffer sends
     * that part's end as a small segment, and no segment behind it begins with an FPDU.
     */
    void cork(boolean more) {
        if (more != corked && channel != null && channel.isOpen()) {
            channel.config().setTcpCork(more);
            corked = more;
        }
    }

    /** The socket was full for so long. */
    void onFull(long nanos) {
        if (nanos > PROBED_NANOS && channel != null) {
            lost = true;
        }
    }

    /**
     * To be called before a segment that begins with an FPDU is given to the socket. When a probe may have cut a segment,
     * the socket has to send all it holds first, because it adds to its last segment whatever comes.
     *
     * @return false when output has to wait for {@code onRestored}
     */
    boolean restore() {
        if (!lost) {
            return true;
        }
        cork(false);
        if (isEmpty()) {
            lost = false;
            return true;
        }
        restoring = true;
        await(MOST_POLLS);
        return false;
    }

    /** Whether output waits for {@code onRestored}. */
    boolean isRestoring() {
        return restoring;
    }

    private void await(int polls) {
        loop.schedule(() -> check(polls), POLL_NANOS, TimeUnit.NANOSECONDS);
    }

    private void check(int polls) {
        if (polls > 0 && !isEmpty()) {
            await(polls - 1);
        } else {
            lost = false;
            restoring = false;
            onRestored.run();
        }
    }

    /** Whether the socket holds nothing, or there is none any more. */
    private boolean isEmpty() {
        if (channel == null || !channel.isOpen()) {
            return true;
        }
        try {
            channel.tcpInfo(info);
            return info.unacked() == 0;
        } catch (ChannelException e) {
            // It was closed meanwhile.
            return true;
        }
    }
}
