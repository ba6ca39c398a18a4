// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.ring.RingRecord;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection to the socket of rings. Reads records, and writes records that wake the application. */
final class RingSocketHandler extends ByteToMessageDecoder {

    /** Time limit in seconds for the first record. */
    private static final long HELLO_SECONDS = 10;

    private static final int HELLO_LENGTH = RingRecord.HEADER + RingRecord.TOKEN_LENGTH;

    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final RingServer server;
    private @Nullable CompletionRingWriter ring;
    private boolean refused;
    private @Nullable ScheduledFuture<?> deadline;

    RingSocketHandler(RingServer server) {
        this.server = server;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
        deadline = context.executor()
                .schedule(
                        () -> refuse(
                                context,
                                Status.Code.DEADLINE_EXCEEDED,
                                "no HELLO record came for " + HELLO_SECONDS + " s; send it first"),
                        HELLO_SECONDS,
                        TimeUnit.SECONDS);
        super.channelActive(context);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (refused) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (in.readableBytes() < RingRecord.HEADER) {
            return;
        }
        int start = in.readerIndex();
        int length = getInt(in, start + RingRecord.LENGTH_OFFSET);
        int type = getShort(in, start + RingRecord.TYPE_OFFSET);
        if (length < RingRecord.HEADER || length > RingRecord.MAX_LENGTH) {
            refuse(
                    context,
                    Status.Code.INVALID_ARGUMENT,
                    "a record has length " + Integer.toUnsignedString(length) + "; allowed: " + RingRecord.HEADER
                            + " to " + RingRecord.MAX_LENGTH);
            return;
        }
        if (in.readableBytes() < length) {
            return;
        }
        int version = getShort(in, start + RingRecord.VERSION_OFFSET);
        if (version != RingRecord.VERSION) {
            refuse(
                    context,
                    Status.Code.INVALID_ARGUMENT,
                    "a record has version " + version + "; expected " + RingRecord.VERSION);
            return;
        }
        CompletionRingWriter current = ring;
        if (current == null) {
            hello(context, in, start, length, type);
        } else if (type == RingRecord.WAKE) {
            wake(current, getLong(in, start + RingRecord.VALUE_OFFSET));
        }
        if (in.isReadable()) {
            in.readerIndex(start + length);
        }
    }

    /**
     * Wakes a ring. A record that arrived together with HELLO is read before the socket has moved to the loop of its
     * ring.
     */
    private static void wake(CompletionRingWriter ring, long id) {
        if (ring.loop().inEventLoop()) {
            ring.onWake(id);
        } else {
            ring.loop().execute(() -> ring.onWake(id));
        }
    }

    private void hello(ChannelHandlerContext context, ByteBuf in, int start, int length, int type) {
        if (type != RingRecord.HELLO || length != HELLO_LENGTH) {
            refuse(
                    context,
                    Status.Code.INVALID_ARGUMENT,
                    "the first record has type " + type + " and length " + length + "; expected HELLO (1) with length "
                            + HELLO_LENGTH);
            return;
        }
        byte[] token = new byte[RingRecord.TOKEN_LENGTH];
        in.getBytes(start + RingRecord.HEADER, token);
        CompletionRingWriter found = server.take(token);
        if (found == null) {
            refuse(
                    context,
                    Status.Code.UNAUTHENTICATED,
                    "the token is not known: it was used, or its ring has ended; create a new completion ring");
            return;
        }
        cancelDeadline();
        ring = found;
        Channel channel = context.channel();
        moveTo(channel, found.loop(), () -> {
            found.connected(new Waker(channel));
            channel.writeAndFlush(record(RingRecord.WELCOME, found.id()));
        });
    }

    /** Moves a channel to another loop. */
    private static void moveTo(Channel channel, EventLoop loop, Runnable then) {
        if (channel.eventLoop().equals(loop)) {
            then.run();
            return;
        }
        // Asynchronous: a channel must not be deregistered inside its own event.
        channel.eventLoop()
                .execute(() -> channel.deregister().addListener((Future<Object> left) -> {
                    if (left.isSuccess()) {
                        loop.register(channel).addListener((Future<Object> registered) -> {
                            if (registered.isSuccess()) {
                                then.run();
                            } else {
                                channel.close();
                            }
                        });
                    } else {
                        channel.close();
                    }
                }));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        super.channelInactive(context);
        cancelDeadline();
        CompletionRingWriter current = ring;
        if (current != null) {
            current.loop().execute(current::disconnected);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    private void refuse(ChannelHandlerContext context, Status.Code code, String text) {
        refused = true;
        cancelDeadline();
        context.writeAndFlush(record(RingRecord.ERROR, code.value(), text)).addListener(ChannelFutureListener.CLOSE);
    }

    private static ByteBuf record(int type, long value) {
        return record(type, value, "");
    }

    private static ByteBuf record(int type, long value, String text) {
        return Unpooled.wrappedBuffer(RingRecord.of(type, value, text.getBytes(StandardCharsets.UTF_8)));
    }

    private static int getInt(ByteBuf in, int at) {
        return LITTLE ? in.getIntLE(at) : in.getInt(at);
    }

    private static int getShort(ByteBuf in, int at) {
        return LITTLE ? in.getUnsignedShortLE(at) : in.getUnsignedShort(at);
    }

    private static long getLong(ByteBuf in, int at) {
        return LITTLE ? in.getLongLE(at) : in.getLong(at);
    }

    /**
     * Writes records to the application. WAKE records are dropped while the application does not read, which bounds the
     * memory: unread records already wake it.
     */
    record Waker(Channel channel) {

        void wake(long ring) {
            if (channel.isWritable()) {
                channel.writeAndFlush(record(RingRecord.WAKE, ring));
            }
        }

        void ended(long ring, String reason) {
            channel.writeAndFlush(record(RingRecord.END, ring, reason));
        }

        void close() {
            channel.flush();
            channel.close();
        }
    }
}
