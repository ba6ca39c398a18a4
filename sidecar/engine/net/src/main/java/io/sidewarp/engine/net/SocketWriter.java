// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Gives one buffer after the other to the socket of a connection. One call suffices where the socket has room;
 * otherwise the rest follows as room comes. A buffer is pending until its owner has released it. Allocates nothing.
 * Belongs to one event loop.
 */
final class SocketWriter {

    /** Descriptor of a channel whose socket belongs to the Java library. */
    static final int NO_DESCRIPTOR = -1;

    private final SocketChannel channel;
    private final LoopResources resources;
    private final SegmentAlignment alignment;
    private final SegmentSize segmentSize;
    private final @Nullable StagedWrite stagedWrite;
    private @Nullable StagingBuffer pending;
    private int pendingOctets;
    private long doneOctets;

    SocketWriter(SocketChannel channel, LoopResources resources, SegmentSize segmentSize) {
        this.channel = channel;
        this.resources = resources;
        this.segmentSize = segmentSize;
        alignment = new SegmentAlignment(channel);
        int descriptor = descriptor(channel);
        stagedWrite = descriptor == NO_DESCRIPTOR ? null : new StagedWrite(resources.socketCalls(), descriptor);
    }

    /** Returns the file descriptor of a channel's socket, or {@link #NO_DESCRIPTOR}. */
    static int descriptor(SocketChannel channel) {
        return channel instanceof EpollSocketChannel epoll ? epoll.fd().intValue() : NO_DESCRIPTOR;
    }

    /**
     * Returns whether a buffer is pending: the socket has not taken all of it, or the owner has not released it yet.
     */
    boolean isPending() {
        return pending != null;
    }

    /**
     * Gives a buffer to the socket. The buffer is pending from now on.
     *
     * @param records array with the bytes to write, or null if they are in the buffer
     * @return whether the socket took all of it; if not, the channel's writability tells when it has
     */
    boolean write(StagingBuffer buffer, @Nullable MemorySegment records, int octets) throws IOException {
        pending = buffer;
        pendingOctets = octets;
        int flags = alignment.begin(octets, segmentSize.last());
        if (stagedWrite == null || !channel.isOpen()) {
            if (records != null) {
                MemorySegment.copy(records, 0, buffer.wire().segment(), 0, octets);
            }
            channel.writeAndFlush(buffer.forWriting(octets), channel.voidPromise());
        } else {
            boolean all = stagedWrite.begin(buffer, records, octets, flags);
            alignment.given(all);
            if (all) {
                return true;
            }
            channel.writeAndFlush(stagedWrite.retain(), channel.voidPromise());
        }
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return outbound != null && outbound.isEmpty();
    }

    /**
     * Returns the most bytes of the next buffer.
     *
     * @param most other limit in bytes, at least {@link SegmentAlignment#SMALL}
     */
    int room(int most) {
        return alignment.room(most, segmentSize.last());
    }

    /** Notes that there is no more output for now. */
    void pause() {
        alignment.end();
    }

    /** Returns the bytes of the pending buffer. */
    int pendingOctets() {
        return pendingOctets;
    }

    /** Returns the bytes of all buffers that the socket took completely. */
    long doneOctets() {
        return doneOctets;
    }

    /** Returns the bytes that the socket took so far. */
    long takenOctets() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return doneOctets + (pending == null || outbound == null ? 0 : outbound.currentProgress());
    }

    /**
     * Releases the pending buffer if there is one.
     *
     * @param reusable false when Netty may still hold it for a moment
     * @return its bytes
     */
    int release(boolean reusable) {
        if (pending == null) {
            return 0;
        }
        StagingBuffer buffer = pending;
        int octets = pendingOctets;
        pending = null;
        pendingOctets = 0;
        doneOctets += octets;
        resources.releaseOutput(buffer, reusable);
        return octets;
    }
}
