// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.util.function.Consumer;

/**
 * Finds a peer that lets this side's full socket wait. Progress is what the peer acknowledged: a socket that holds much takes
 * nothing for a long time from a peer that reads slowly. While other connections wait for an output buffer, only a whole
 * buffer is progress. Asks the kernel when the time begins and when it ends. Belongs to one event loop.
 */
final class OutputStall {

    private final SocketChannel channel;
    private final SocketWriter writer;
    private final LoopResources resources;
    private final NetSettings settings;
    private final StallWatch watch;
    private long doneBefore;
    private long acknowledgedBefore;
    /** Looks that found progress. */
    private long steps;

    /** @param onStall gets why the connection ends, for people */
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

    /** The socket is full. Cheap to repeat. */
    void begin() {
        watch.begin();
    }

    /** The connection is over. */
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

    /** Bytes that the peer acknowledged; bytes that the socket took, where the operating system does not tell. */
    private long acknowledged() {
        return channel instanceof EpollSocketChannel epoll && epoll.isOpen()
                ? new TcpInfo(epoll).acknowledged()
                : writer.takenOctets();
    }

    private String describe() {
        return resources.isOutputShort()
                ? "the peer did not read " + writer.pendingOctets() + " bytes, for whose buffer others wait, in "
                        + limit(settings)
                : "the peer acknowledged nothing for " + limit(settings) + ", after " + acknowledged()
                        + " bytes; its program has to read, or the limit has to be higher";
    }

    /** The time that a peer has, and the setting that it is from. */
    static String limit(NetSettings settings) {
        return settings.stallTimeout().toMillis() + " ms (sidewarp.connection.stall-timeout)";
    }
}
