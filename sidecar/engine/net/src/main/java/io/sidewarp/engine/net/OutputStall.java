// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.util.function.Consumer;

/**
 * Detects a peer that blocks the full socket of this side. Progress means that the peer acknowledged something: a
 * socket that holds much takes nothing for a long time from a peer that reads slowly.
 *
 * <p>While other connections wait for an output buffer, only a whole buffer counts as progress. Asks the kernel at the
 * beginning and at the end of the timeout. Belongs to one event loop.
 */
final class OutputStall {

    private final SocketChannel channel;
    private final SocketWriter writer;
    private final LoopResources resources;
    private final NetSettings settings;
    private final StallWatch watch;
    private long doneBefore;
    private long acknowledgedBefore;
    /** Number of checks that found progress. */
    private long steps;

    /** @param onStall takes the reason why the connection ends, for people */
    OutputStall(
            SocketChannel channel,
            SocketWriter writer,
            LoopResources resources,
            NetSettings settings,
            Consumer<String> onStall) {
        this.channel = channel;
        this.writer = writer;
        this.resources = resources;
        this.settings = settings;
        this.watch = new StallWatch(
                channel.eventLoop(), settings.stallTimeout(), this::progress, () -> onStall.accept(describe()));
    }

    /** Starts the watch when the socket is full. Cheap to repeat. */
    void begin() {
        watch.begin();
    }

    /** Ends the watch with the connection. */
    void end() {
        watch.end();
    }

    private long progress() {
        if (!writer.isPending()) {
            return StallWatch.NOT_WAITING;
        }
        long done = writer.doneOctets();
        long acknowledged = acknowledged();
        if (resources.isOutputShort() ? done != doneBefore : acknowledged != acknowledgedBefore) {
            steps++;
        }
        doneBefore = done;
        acknowledgedBefore = acknowledged;
        return steps;
    }

    /**
     * Returns the bytes that the peer acknowledged. Returns the bytes that the socket took where the operating system
     * does not tell.
     */
    private long acknowledged() {
        return channel instanceof EpollSocketChannel epoll && epoll.isOpen()
                ? new TcpInfo(epoll).acknowledged()
                : writer.takenOctets();
    }

    private String describe() {
        return resources.isOutputShort()
                ? "the peer did not read " + writer.pendingOctets() + " bytes within " + limit(settings)
                        + ", while others wait for their buffer"
                : "the peer acknowledged nothing for " + limit(settings) + ", after " + acknowledged()
                        + " bytes; its program has to read, or the limit has to be higher";
    }

    /** Returns the time that a peer has, and the name of its setting. */
    static String limit(NetSettings settings) {
        return settings.stallTimeout().toMillis() + " ms (sidewarp.connection.stall-timeout)";
    }
}
