// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What the kernel has of a TCP connection's output when that is closed. */
final class LastOutput {

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_INFO = 11;

    // Of Linux's struct tcp_info.
    private static final int STATE_OFFSET = 0;
    private static final int BYTES_ACKED_OFFSET = 120;
    private static final int LENGTH = BYTES_ACKED_OFFSET + Long.BYTES;

    // States in which this side has sent a FIN that is not acknowledged (RFC 793 section 3.2).
    private static final int FIN_WAIT_1 = 4;
    private static final int LAST_ACK = 9;
    private static final int CLOSING = 11;

    private static final RawUnixChannelOption OPTION =
            new RawUnixChannelOption("TCP_INFO", IPPROTO_TCP, TCP_INFO, LENGTH);

    private LastOutput() {}

    /**
     * Octets that the peer has acknowledged, while it has not acknowledged the FIN; {@link StallWatch#NOT_WAITING} when it
     * has, or where the operating system does not tell. Allocates.
     */
    static long acknowledged(SocketChannel channel) {
        if (!(channel instanceof EpollSocketChannel epoll) || !epoll.isOpen()) {
            return StallWatch.NOT_WAITING;
        }
        ByteBuffer info = epoll.config().getOption(OPTION);
        int state = info.get(STATE_OFFSET);
        return state == FIN_WAIT_1 || state == LAST_ACK || state == CLOSING
                ? info.order(ByteOrder.nativeOrder()).getLong(BYTES_ACKED_OFFSET)
                : StallWatch.NOT_WAITING;
    }
}
