// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.RingRecord;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection to the socket of rings. Reads records, and writes records that wake the application. */
final class RingSocketHandler extends RecordDecoder {

    /** Time limit in seconds for the first record. */
    private static final long HELLO_SECONDS = 10;

    private static final int HELLO_LENGTH = RingRecord.HEADER + RingRecord.TOKEN_LENGTH;

    private final RingServer server;
    private @Nullable CompletionRingWriter ring;
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
                                "no HELLO or OPEN record came for " + HELLO_SECONDS + " s; send it first"),
                        HELLO_SECONDS,
                        TimeUnit.SECONDS);
        super.channelActive(context);
    }

    @Override
    protected boolean onRecord(ChannelHandlerContext context, ByteBuf in, int start, int length, int type) {
        CompletionRingWriter current = ring;
        if (current == null && type == ControlRecord.OPEN) {
            return open(context);
        }
        if (current == null) {
            hello(context, in, start, length, type);
        } else if (type == RingRecord.WAKE) {
            wake(current, getLong(in, start + RingRecord.VALUE_OFFSET));
        }
        return true;
    }

    /** Gives the socket to the handler of the control socket, which takes the record again. */
    private boolean open(ChannelHandlerContext context) {
        ChannelHandler control = server.newControl();
        if (control == null) {
            refuse(
                    context,
                    Status.Code.UNAVAILABLE,
                    "the sidecar is starting and opens no sessions yet; connect again");
            return true;
        }
        cancelDeadline();
        context.pipeline().replace(this, null, control);
        return false;
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
                    "the first record has type " + type + " and length " + length
                            + "; expected OPEN (16), or HELLO (1) with length " + HELLO_LENGTH);
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

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    @Override
    protected void refuse(ChannelHandlerContext context, Status.Code code, String text) {
        cancelDeadline();
        super.refuse(context, code, text);
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
