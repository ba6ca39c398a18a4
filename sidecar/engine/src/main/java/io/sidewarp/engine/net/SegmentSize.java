// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.socket.SocketChannel;

/** How many octets a segment of a TCP connection takes (EMSS, RFC 5044 section 2), which may change. Belongs to one loop. */
final class SegmentSize {

    /** Calls after which the kernel is asked again; the first ones ask at powers of two. */
    private static final int PERIOD = 1024;

    private final SocketChannel channel;
    private final LoopResources resources;
    private int emss;
    private long calls;

    /** @param initial octets, where the operating system does not tell */
    SegmentSize(SocketChannel channel, LoopResources resources, int initial) {
        this.channel = channel;
        this.resources = resources;
        this.emss = initial;
    }

    /** As the kernel told lately. */
    int emss() {
        if (isDue(calls++) && channel instanceof EpollSocketChannel epoll && epoll.isOpen()) {
            EpollTcpInfo info = resources.tcpInfo();
            epoll.tcpInfo(info);
            if (info.sndMss() > 0) {
                emss = (int) info.sndMss();
            }
        }
        return emss;
    }

    /** @param call how many there were before */
    static boolean isDue(long call) {
        return call < PERIOD ? Long.bitCount(call) <= 1 : call % PERIOD == 0;
    }

    /** What {@link #emss} returned last. */
    int last() {
        return emss;
    }
}
