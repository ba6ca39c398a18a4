// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.sidewarp.engine.linux.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * Aligns TCP segments with FPDUs (RFC 5044 section 5.1) as far as the kernel allows. NIO offers no control of segments.
 *
 * <p>A segment that was cut short by a window shifts the segments that TCP makes of the waiting data. The data of one
 * write therefore never shares a segment with later data ({@link SocketCalls#MSG_EOR}): every buffer begins with an
 * FPDU in a segment of its own. Buffers are small, because a cut shifts the rest of its buffer.
 *
 * <p>While the socket is full, TCP may send only full segments (TCP_CORK), which no window cuts. A socket that keeps up
 * is not corked, because the last segment of each buffer would wait for the next buffer. Where BBR paces, corking
 * reduced a stream of 64 KiB messages to a fifth of its rate.
 *
 * <p>A socket that keeps up for long is limited by a processor and not by a window. It gets large buffers, which cost
 * the kernel less per byte. This does not apply where TCP paces: BBR then takes the rate of this side for the capacity
 * of the path.
 */
final class SegmentAlignment {

    /** Largest buffer in bytes, unless the socket keeps up. */
    static final int SMALL = 128 * 1024;

    /** Most bytes that the kernel splits into segments at a time: 64 KiB less room for its headers. */
    private static final int KERNEL_BATCH = 65_215;

    /** FPDUs are padded to a multiple of this many bytes (RFC 5044 section 4.1). */
    private static final int FPDU_MULTIPLE = 4;

    /** Smallest buffer in bytes that counts as part of a large amount of data, and is aligned. */
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
     * Returns the most bytes of the next buffer. The number is a multiple of the data that the kernel splits at a time.
     * An end at this place costs the kernel little.
     *
     * @param most upper limit in bytes, at least {@link #SMALL}
     * @param emss bytes of a segment
     */
    int room(int most, int emss) {
        if (!isPossible(emss)) {
            return most;
        }
        int batch = Math.max(1, KERNEL_BATCH / emss) * emss;
        return (keepsUp() ? most : SMALL) / batch * batch;
    }

    /** Returns whether the socket took more than it holds unsent, and was never full meanwhile. */
    private boolean keepsUp() {
        return keptUpOctets > NetSettings.LARGE_OUTPUT_CAPACITY && !paced;
    }

    /**
     * Prepares for a buffer. Call this before the socket gets the buffer. Where the segment size is no multiple of
     * four, as on loopback, no FPDU fills a segment: there is nothing to align.
     *
     * @param octets bytes of whole FPDUs
     * @param emss bytes of a segment
     * @return the flags to send them with
     */
    int begin(int octets, int emss) {
        givenOctets = octets;
        aligning = octets > MUCH && isPossible(emss);
        return aligning ? SocketCalls.MSG_EOR : 0;
    }

    /** Notes that the socket got the buffer, and whether it took all of it. */
    void given(boolean all) {
        boolean keptUp = keepsUp();
        keptUpOctets = all ? keptUpOctets + givenOctets : 0;
        if (channel != null && !keptUp && keepsUp()) {
            paced = CongestionControl.paces(channel);
        }
        cork(aligning && !all);
    }

    /** Returns whether FPDUs can fill segments of the given number of bytes. */
    private boolean isPossible(int emss) {
        return channel != null && emss % FPDU_MULTIPLE == 0;
    }

    /** Notes that there is nothing more to send for now. TCP may then send a last segment that is not full. */
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
