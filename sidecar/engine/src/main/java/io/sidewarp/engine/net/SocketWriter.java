// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * How the socket of a connection gets one buffer after the other: in one call where it has room, else what is left of it as
 * room comes. The buffer is pending until its owner has taken note. Allocates nothing. Belongs to one event loop.
 */
final class SocketWriter {

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
        stagedWrite = channel instanceof EpollSocketChannel epoll
                ? new StagedWrite(resources.socketCalls(), epoll.fd().intValue())
                : null;
    }

    /** Whether there is a buffer that the socket has not taken all of, or that was not released since. */
    boolean isPending() {
        return pending != null;
    }

    /**
     * Gives a buffer to the socket, which is pending from now on.
     *
     * @return whether the socket took all of it; if not, the channel's writability tells
     */
    boolean write(StagingBuffer buffer, int octets) throws IOException {
        pending = buffer;
        pendingOctets = octets;
        int flags = alignment.begin(octets, segmentSize.last());
        if (stagedWrite == null || !channel.isOpen()) {
            channel.writeAndFlush(buffer.forWriting(octets), channel.voidPromise());
        } else {
            boolean all = stagedWrite.begin(buffer, octets, flags);
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
     * Octets of the next buffer at most.
     *
     * @param most what else bounds them, at least {@link SegmentAlignment#SMALL}
     */
    int room(int most) {
        return alignment.room(most, segmentSize.last());
    }

    /** What was given so far is all for now. */
    void pause() {
        alignment.end();
    }

    /** Octets of the buffer that is pending. */
    int pendingOctets() {
        return pendingOctets;
    }

    /** Octets of the buffers that the socket took whole. */
    long doneOctets() {
        return doneOctets;
    }

    /** Octets that the socket took so far. */
    long takenOctets() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return doneOctets + (pending == null || outbound == null ? 0 : outbound.currentProgress());
    }

    /**
     * Gives the pending buffer back, if there is one.
     *
     * @param reusable false when Netty may still hold it for a moment
     * @return its octets
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
