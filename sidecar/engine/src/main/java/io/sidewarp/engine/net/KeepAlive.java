// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannelConfig;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.time.Duration;

/**
 * Finds peers that went away without a word, and to which nothing is sent: TCP alone would keep their connections for ever.
 * See {@link UserTimeout} for the others.
 */
final class KeepAlive {

    /** Probes without an answer after which a peer counts as gone. */
    static final int PROBES = 3;

    private KeepAlive() {}

    /**
     * Sets up a connection. After the idle time come {@link #PROBES} probes within the same time again. Where the operating
     * system does not take these times it has its own.
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
