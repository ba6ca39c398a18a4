// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Facts about the output of a TCP connection, from Linux's struct tcp_info. */
final class TcpInfo {

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_INFO = 11;

    private static final int STATE_OFFSET = 0;
    private static final int FIN_WAIT_1 = 4;
    private static final int LAST_ACK = 9;
    private static final int CLOSING = 11;
    private static final int UNACKNOWLEDGED_OFFSET = 24;
    private static final int BYTES_ACKED_OFFSET = 120;
    private static final int NOT_SENT_OFFSET = 144;
    private static final int WINDOW_OFFSET = 228;
    private static final int LENGTH = WINDOW_OFFSET + Integer.BYTES;

    private static final RawUnixChannelOption OPTION =
            new RawUnixChannelOption("TCP_INFO", IPPROTO_TCP, TCP_INFO, LENGTH);

    private final ByteBuffer info;

    /** Asks the kernel. */
    TcpInfo(EpollSocketChannel channel) {
        info = channel.config().getOption(OPTION).order(ByteOrder.nativeOrder());
    }

    /** Returns whether this side has sent a FIN that the peer has not acknowledged (RFC 793 section 3.2). */
    boolean isFinUnacknowledged() {
        int state = info.get(STATE_OFFSET);
        return state == FIN_WAIT_1 || state == LAST_ACK || state == CLOSING;
    }
    /** Returns the bytes that the peer has acknowledged. */
    long acknowledged() {
        return info.getLong(BYTES_ACKED_OFFSET);
    }

    /** Returns whether some output is not sent yet, or not acknowledged yet. */
    boolean hasOutput() {
        return info.getInt(UNACKNOWLEDGED_OFFSET) != 0 || info.getInt(NOT_SENT_OFFSET) != 0;
    }

    /**
     * Returns whether this output waits for the peer to open its window: nothing is in flight, or only data that the
     * peer has dropped. Before Linux 5.4 this is true whenever there is output.
     */
    boolean isWindowShut() {
        return hasOutput() && (info.getInt(UNACKNOWLEDGED_OFFSET) == 0 || info.getInt(WINDOW_OFFSET) == 0);
    }
}
