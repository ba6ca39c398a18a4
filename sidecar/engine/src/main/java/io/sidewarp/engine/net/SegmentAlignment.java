// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.sidewarp.engine.net.linux.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * Has TCP segments begin with FPDUs (RFC 5044 section 5.1) as far as the kernel can be told; NIO can tell it nothing.
 *
 * <p>A segment that a window has cut short shifts those that TCP makes of what waits behind it. So what is given at a time
 * never shares a segment with what comes later ({@link SocketCalls#MSG_EOR}): every buffer begins with an FPDU in a segment of
 * its own, and buffers are small, as a cut shifts what is left of its buffer. While the socket is full TCP is to send full
 * segments only (TCP_CORK), which no window cuts; not while it keeps up, since the last segment of each buffer would wait
 * for the next buffer: where BBR paces, a stream of messages of 64 KiB got a fifth of its rate so.
 */
final class SegmentAlignment {

    /**
     * Octets of a buffer at most where segments are aligned: twice what the kernel makes segments of at a time, so that
     * ending there costs it little.
     */
    static final int BUFFER = 128 * 1024;

    /** FPDUs are padded to a multiple of so many octets (RFC 5044 section 4.1). */
    private static final int FPDU_MULTIPLE = 4;

    /** Octets of a buffer from which on it is a part of much. */
    private static final int MUCH = 96 * 1024;

    private final @Nullable EpollSocketChannel channel;
    private boolean aligning;
    private boolean corked;

    SegmentAlignment(SocketChannel channel) {
        this.channel = channel instanceof EpollSocketChannel epoll ? epoll : null;
        if (this.channel != null) {
            this.channel.config().setTcpNotSentLowAt(NetSettings.LARGE_OUTPUT_CAPACITY);
        }
    }

    /**
     * To be called before a buffer is given to the socket. Where the segment size is no multiple of four, as on loopback,
     * no FPDU fills a segment: there is nothing to align.
     *
     * @param octets of whole FPDUs
     * @param emss octets of a segment
     * @return the flags to send them with
     */
    int begin(int octets, int emss) {
        aligning = octets > MUCH && isPossible(emss);
        return aligning ? SocketCalls.MSG_EOR : 0;
    }

    /** To be called when the buffer was given to the socket, with whether that took all of it. */
    void given(boolean all) {
        cork(aligning && !all);
    }

    /** Whether FPDUs can fill segments of so many octets. */
    static boolean isPossible(int emss) {
        return emss % FPDU_MULTIPLE == 0;
    }

    /** There is nothing more to send for now: TCP may send a last segment that is not full. */
    void end() {
        cork(false);
    }

    private void cork(boolean more) {
        if (more != corked && channel != null && channel.isOpen()) {
            channel.config().setTcpCork(more);
            corked = more;
        }
    }
}
