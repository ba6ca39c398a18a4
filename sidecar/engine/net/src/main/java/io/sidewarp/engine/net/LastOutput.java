// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;

/** The part of a TCP connection's output that the kernel still holds when the connection is closed. */
final class LastOutput {

    // States in which this side has sent a FIN that is not acknowledged (RFC 793 section 3.2).
    private static final int FIN_WAIT_1 = 4;
    private static final int LAST_ACK = 9;
    private static final int CLOSING = 11;

    private LastOutput() {}

    /**
     * Returns how many bytes the peer has acknowledged, while it has not acknowledged the FIN. Returns
     * {@link StallWatch#NOT_WAITING} when it has, or where the operating system does not tell. Allocates.
     */
    static long acknowledged(SocketChannel channel) {
        if (!(channel instanceof EpollSocketChannel epoll) || !epoll.isOpen()) {
            return StallWatch.NOT_WAITING;
        }
        TcpInfo info = new TcpInfo(epoll);
        int state = info.state();
        return state == FIN_WAIT_1 || state == LAST_ACK || state == CLOSING
                ? info.acknowledged()
                : StallWatch.NOT_WAITING;
    }
}
