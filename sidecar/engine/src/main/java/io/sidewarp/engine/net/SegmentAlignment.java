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
 *
 * <p>A socket that keeps up for long has a processor for its bottleneck and no window. It gets large buffers, which cost the
 * kernel less per octet; but not where TCP paces, as BBR then takes what this side can make for what the path can carry.
 */
final class SegmentAlignment {

    /** Octets of a buffer at most, unless the socket keeps up. */
    static final int SMALL = 128 * 1024;

    /** Octets that the kernel makes segments of at a time at most: 64 KiB less room for its headers. */
    private static final int KERNEL_BATCH = 65_215;

    /** FPDUs are padded to a multiple of so many octets (RFC 5044 section 4.1). */
    private static final int FPDU_MULTIPLE = 4;

    /** Octets of a buffer from which on it is a part of much. */
    private static final int MUCH = 96 * 1024;

    private final @Nullable EpollSocketChannel channel;
    private boolean aligning;
    private boolean corked;
    private int givenOctets;
    private long keptUpOctets;
    private boolean paced;

    SegmentAlignment(SocketChannel channel) {
        this.channel = channel instanceof EpollSocketChannel epoll ? epoll : null;
        if (this.channel != null) {
            this.channel.config().setTcpNotSentLowAt(NetSettings.LARGE_OUTPUT_CAPACITY);
        }
    }

    /**
     * Octets of the next buffer at most: as many segments as the kernel makes at a time, or a multiple, so that ending there
     * costs it little.
     *
     * @param most octets, at least {@link #SMALL}
     * @param emss octets of a segment
     */
    int room(int most, int emss) {
        if (!isPossible(emss)) {
            return most;
        }
        int batch = Math.max(1, KERNEL_BATCH / emss) * emss;
        return (keepsUp() ? most : SMALL) / batch * batch;
    }

    /** Whether the socket took more than it holds unsent, and was never full meanwhile. */
    private boolean keepsUp() {
        return keptUpOctets > NetSettings.LARGE_OUTPUT_CAPACITY && !paced;
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
        givenOctets = octets;
        aligning = octets > MUCH && isPossible(emss);
        return aligning ? SocketCalls.MSG_EOR : 0;
    }

    /** To be called when the buffer was given to the socket, with whether that took all of it. */
    void given(boolean all) {
        boolean keptUp = keepsUp();
        keptUpOctets = all ? keptUpOctets + givenOctets : 0;
        if (channel != null && !keptUp && keepsUp()) {
            paced = CongestionControl.paces(channel);
        }
        cork(aligning && !all);
    }

    /** Whether FPDUs can fill segments of so many octets. */
    private boolean isPossible(int emss) {
        return channel != null && emss % FPDU_MULTIPLE == 0;
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
