// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts what comes in for the calls of one connection before gRPC has it, frame by frame: gRPC keeps each frame as a
 * buffer of its own until its message is complete and the call has asked for it, and tells nobody of what it keeps. On the
 * transport's thread. Allocates nothing for a frame that is one message which its call waits for.
 */
final class RequestFrames extends Http2FrameListenerDecorator {

    /**
     * Frames with fewer octets are copied when they are to be kept. As they are they would keep all that was read from
     * the socket with them, which may be 64 KiB.
     */
    private static final int SHORT = 4096;

    private final Http2Connection connection;
    /** The {@link RequestOctets} of a stream. */
    private final Http2Connection.PropertyKey octets;

    RequestFrames(Http2Connection connection, Http2FrameListener next) {
        super(next);
        this.connection = connection;
        this.octets = connection.newKey();
    }

    /** Has all frames of a connection counted. Before there are any. */
    static void count(Http2ConnectionDecoder decoder) {
        decoder.frameListener(new RequestFrames(decoder.connection(), decoder.frameListener()));
    }

    @Override
    public void onHeadersRead(
            ChannelHandlerContext context,
            int streamId,
            Http2Headers headers,
            int dependency,
            short weight,
            boolean exclusive,
            int padding,
            boolean endOfStream)
            throws Http2Exception {
        try {
            super.onHeadersRead(context, streamId, headers, dependency, weight, exclusive, padding, endOfStream);
        } finally {
            RequestOctets begun = RequestOctets.takeBegun();
            Http2Stream stream = connection.stream(streamId);
            if (begun != null && stream != null) {
                stream.setProperty(octets, begun);
            }
        }
    }

    @Override
    public int onDataRead(ChannelHandlerContext context, int streamId, ByteBuf data, int padding, boolean endOfStream)
            throws Http2Exception {
        RequestOctets request = ofStream(streamId);
        int length = data.readableBytes();
        if (request == null) {
            return super.onDataRead(context, streamId, data, padding, endOfStream);
        }
        if (length == 0 || request.refusesLength(data) || !request.arrive(length)) {
            // The window of HTTP/2 does not bound empty frames.
            if (endOfStream) {
                super.onDataRead(context, streamId, Unpooled.EMPTY_BUFFER, padding, true);
            }
            return length + padding;
        }
        if (length >= SHORT || isMessage(data) && request.isAwaited(length)) {
            return super.onDataRead(context, streamId, data, padding, endOfStream);
        }
        ByteBuf copy = Unpooled.copiedBuffer(data);
        try {
            return super.onDataRead(context, streamId, copy, padding, endOfStream);
        } finally {
            copy.release();
        }
    }

    private @Nullable RequestOctets ofStream(int streamId) {
        Http2Stream stream = connection.stream(streamId);
        return stream == null ? null : stream.getProperty(octets);
    }

    /** Whether a frame that begins with a message is all of it, and nothing else. */
    private static boolean isMessage(ByteBuf data) {
        int length = data.readableBytes() - RequestOctets.PREFIX;
        return length >= 0 && data.getInt(data.readerIndex() + 1) == length;
    }
}
