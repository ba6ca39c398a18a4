// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Limits how long the kernel waits for a peer that acknowledges nothing (TCP_USER_TIMEOUT). The limit is twice the
 * keep-alive time; the kernel's own default is a quarter of an hour.
 *
 * <p>The kernel also counts the time in which the peer's window is shut, although the peer answers. The same limit
 * applies to keep-alive. While the window is shut, a longer limit is set if a peer that reads nothing may have
 * more time. Belongs to one event loop. An operating system that does not accept the limit uses its own.
 */
final class UserTimeout {

    private final @Nullable EpollSocketChannel channel;
    private final long keepAliveNanos;
    private final int silentMillis;
    private final int shutMillis;
    private final LoopTimer check;

    UserTimeout(SocketChannel channel, NetSettings settings) {
        boolean wanted = settings.keepAlive().isPositive();
        this.channel = wanted && channel instanceof EpollSocketChannel epoll ? epoll : null;
        this.check = new LoopTimer(channel.eventLoop(), this::check);
        this.keepAliveNanos = settings.keepAlive().toNanos();
        this.silentMillis = twice(settings.keepAlive());
        // StallWatch takes up to twice the time to notice.
        this.shutMillis = Math.max(silentMillis, twice(settings.stallTimeout()));
    }

    private static int twice(Duration time) {
        return (int) (Math.min(Integer.MAX_VALUE / 2, time.toMillis()) * 2);
    }

    /** Sets the limit when the connection is up. Before that, the time-out of the connection set-up applies. */
    void begin() {
        if (channel != null && channel.isOpen()) {
            channel.config().setTcpUserTimeout(silentMillis);
        }
    }

    /** Starts the checks when the peer has something to acknowledge. Cheap to repeat. */
    void onOutput() {
        if (channel != null && shutMillis > silentMillis && channel.isOpen()) {
            check.start(keepAliveNanos);
        }
    }

    /** Ends the checks with the connection. Otherwise the loop would keep the connection until the timer expires. */
    void end() {
        check.stop();
    }

    private void check() {
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
