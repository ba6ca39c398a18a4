// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long the kernel waits for a peer that acknowledges nothing (TCP_USER_TIMEOUT), which by itself is a quarter of an hour:
 * twice the keep-alive. The kernel counts a window that is shut as such a wait, although the peer answers, and what it counts
 * for {@link KeepAlive} is the same time; so while the window is shut it gets another one, if a peer that reads nothing may
 * have longer. Belongs to one event loop. Where the operating system does not take the time it has its own.
 */
final class UserTimeout {

    private final @Nullable EpollSocketChannel channel;
    private final long keepAliveNanos;
    private final int silentMillis;
    private final int shutMillis;
    private final Runnable check = this::check;
    private @Nullable ScheduledFuture<?> scheduled;

    UserTimeout(SocketChannel channel, NetSettings settings) {
        boolean wanted = settings.keepAlive().isPositive();
        this.channel = wanted && channel instanceof EpollSocketChannel epoll ? epoll : null;
        this.keepAliveNanos = settings.keepAlive().toNanos();
        this.silentMillis = twice(settings.keepAlive());
        // StallWatch takes up to twice the time to notice.
        this.shutMillis = Math.max(silentMillis, twice(settings.stallTimeout()));
    }

    private static int twice(Duration time) {
        return (int) (Math.min(Integer.MAX_VALUE / 2, time.toMillis()) * 2);
    }

    /** The connection is up; before that it has the time of its set-up. */
    void begin() {
        if (channel != null && channel.isOpen()) {
            channel.config().setTcpUserTimeout(silentMillis);
        }
    }

    /** There is something for the peer to acknowledge. Cheap to repeat. */
    void onOutput() {
        if (scheduled == null && channel != null && shutMillis > silentMillis && channel.isOpen()) {
            scheduled = channel.eventLoop().schedule(check, keepAliveNanos, TimeUnit.NANOSECONDS);
        }
    }

    /** The connection is over. Without this the loop would keep it until the time is over. */
    void end() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }

    private void check() {
        scheduled = null;
        if (channel == null || !channel.isOpen()) {
            return;
        }
        TcpInfo info = new TcpInfo(channel);
        channel.config().setTcpUserTimeout(info.isWindowShut() ? shutMillis : silentMillis);
        if (info.hasOutput()) {
            onOutput();
        }
    }
}
