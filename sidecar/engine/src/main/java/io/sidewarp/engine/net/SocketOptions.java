// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import java.util.function.Supplier;

/** How the socket of a connection, and the channel around it, are set before anything moves. */
final class SocketOptions {

    /**
     * Reads in a turn of the loop before other connections get theirs, and before the application learns of what they
     * completed: few, so that it can ask for more before all that it asked for has come. Where epoll tells again of the rest,
     * the second is a task: what the application asked for meanwhile, which the loop reads in the same turn, goes out first,
     * and the peer works on it while the rest is placed.
     */
    private static final int READS_PER_TURN = 2;

    private SocketOptions() {}

    /** @param target gives the view to read into, with one reference for the channel */
    static void apply(SocketChannel channel, NetSettings settings, Supplier<ByteBuf> target) {
        channel.config().setTcpNoDelay(true);
        channel.config().setAllowHalfClosure(true);
        // When a write fails, what the peer sent last may still be in the socket.
        channel.config().setAutoClose(false);
        KeepAlive.apply(channel, settings.keepAlive());
        CongestionControl.apply(channel, settings.congestionControl());
        boolean toldAgain = EngineLoops.tellsAgain(channel);
        channel.config()
                .setRecvByteBufAllocator(new StagingAllocator(
                        target, settings.stagingCapacity(), toldAgain ? 1 : READS_PER_TURN, toldAgain));
        // One buffer is written at a time; "writable" then means that the socket took all of it.
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1));
    }
}
