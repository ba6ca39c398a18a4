// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import org.jspecify.annotations.Nullable;

/** Has TCP segments begin with FPDUs (RFC 5044 section 5.1) as far as the kernel can be told; NIO can tell it nothing. */
final class SegmentAlignment {

    private final @Nullable EpollSocketChannel channel;
    private boolean corked;

    /**
     * A window that closes cuts a segment short, and all behind it that waits in the socket no longer begin with an FPDU:
     * so little is to wait there.
     *
     * @param unsent octets that may
     */
    SegmentAlignment(SocketChannel channel, int unsent) {
        this.channel = channel instanceof EpollSocketChannel epoll ? epoll : null;
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
}
