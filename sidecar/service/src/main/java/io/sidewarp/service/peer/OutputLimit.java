// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Reads nothing more from a client that leaves much of what it is sent. Messages wait for the window of HTTP/2, and who
 * sends them bounds what waits; but headers, trailers and acknowledgements have no window: who asks for those and does not
 * take them would fill the memory.
 */
final class OutputLimit extends ChannelDuplexHandler {

    /**
     * Octets that wait for a full socket, above those of messages: HTTP/2 gives a channel no more of these than the mark
     * from which it is not writable, 64 KiB.
     */
    private static final int MAX_OCTETS = 256 << 10;

    private boolean holding;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        context.fireChannelRead(message);
        if (!holding && waiting(context.channel()) > MAX_OCTETS) {
            holding = true;
            context.channel().config().setAutoRead(false);
        }
    }

    /** HTTP/2 reads on, whatever the channel is told. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!holding) {
            context.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (holding && context.channel().isWritable()) {
            holding = false;
            context.channel().config().setAutoRead(true);
        }
        context.fireChannelWritabilityChanged();
    }

    private static long waiting(Channel channel) {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }
}
