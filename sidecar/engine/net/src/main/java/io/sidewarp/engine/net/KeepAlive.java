// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannelConfig;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.time.Duration;

/**
 * Detects peers that disappeared silently while this side sends nothing to them. TCP alone would keep their connections
 * for ever. {@link UserTimeout} detects the other peers.
 */
final class KeepAlive {

    /** Number of unanswered probes after which a peer counts as gone. */
    static final int PROBES = 3;

    private KeepAlive() {}

    /**
     * Configures a connection. After the idle time {@link #PROBES} probes follow, within the same time again. An
     * operating system that does not accept these times uses its own.
     */
    static void apply(SocketChannel channel, Duration idle) {
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
