// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.sidewarp.common.LogText;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.OpenFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.ApiConnection;
import io.sidewarp.service.transfer.RecordDecoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One control socket. Its first record opens a session, which ends when the socket closes. The loop of the socket is
 * the loop of the session, so everything runs on one thread.
 *
 * <p>While the client does not read, its requests are not read either, so what waits for the client is bounded.
 */
final class ControlHandler extends RecordDecoder {

    /** Time in ms for a client to read the last record. */
    private static final long CLOSE_MILLIS = 1000;

    private final ControlSockets sockets;
    private @Nullable ControlSession session;
    private @Nullable ChannelHandlerContext own;
    private int unanswered;
    private boolean awaitsDescriptor;
    /** Also read by workers. */
    private volatile boolean ended;

    ControlHandler(ControlSockets sockets) {
        this.sockets = sockets;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) throws Exception {
        own = context;
        super.handlerAdded(context);
    }

    @Override
    protected boolean onRecord(ChannelHandlerContext context, ByteBuf in, int start, int length, int type) {
        ByteBuffer copy = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        in.getBytes(start, copy);
        try {
            onRecord(context, type, new RecordReader(copy.flip()));
        } catch (BadRecordException e) {
            refuse(context, Status.Code.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
        }
        return true;
    }

    private void onRecord(ChannelHandlerContext context, int type, RecordReader record) {
        Request request = Request.of(type);
        if (request == null) {
            throw new BadRecordException("a record has type " + type + "; expected " + ControlRecord.OPEN + " to "
                    + ControlRecord.DISCONNECT);
        }
        if (awaitsDescriptor) {
            throw new BadRecordException(request + " came before the answer to the descriptor of MEMORY; wait for it");
        }
        request.check(record);
        if (request == Request.MEMORY && actualReadableBytes() > record.length()) {
            throw new BadRecordException("bytes came behind MEMORY; wait for its answer before the next byte is sent");
        }
        if (unanswered == ControlRecord.MAX_UNANSWERED) {
            refuse(
                    context,
                    Status.Code.RESOURCE_EXHAUSTED,
                    unanswered + " requests wait for an answer; read the answers before another request is sent");
            return;
        }
        ControlSession current = session;
        if (current == null) {
            open(context, request, record);
        } else if (request == Request.OPEN) {
            throw new BadRecordException("OPEN came again; a socket opens one session");
        } else {
            unanswered++;
            current.handle(request, record);
        }
    }

    private void open(ChannelHandlerContext context, Request request, RecordReader record) {
        if (request != Request.OPEN) {
            throw new BadRecordException("the first record is " + request + "; expected OPEN");
        }
        String name = record.getString("name", OpenFields.NAME_OFFSET, OpenFields.NAME_LENGTH);
        try {
            ApiConnection connection = sockets.admit(context.channel());
            ControlSession opened = new ControlSession(
                    this,
                    sockets,
                    sockets.registry()
                            .open(name, connection.peer(), context.channel().eventLoop(), new ControlEvents(this)));
            session = opened;
            send(opened.describe(record.value()));
        } catch (RuntimeException | IOException e) {
            finish(buffer(ControlAnswers.failed(record.value(), failure(request, name, e))));
        }
    }

    /** Answers a request with the result of a stage. */
    void answer(Request request, long value, String name, CompletionStage<RecordWriter> stage) {
        stage.whenComplete((record, failure) -> run(() ->
                answer(failure == null ? record : ControlAnswers.failed(value, failure(request, name, failure)))));
    }

    /** Answers a request. */
    void answer(RecordWriter record) {
        unanswered--;
        send(record);
    }

    /** Sends a record, unless the session has ended. */
    void send(RecordWriter record) {
        if (!ended) {
            context().writeAndFlush(buffer(record));
        }
    }

    /** Converts a failure, and keeps it for the status page. */
    StatusRuntimeException failure(Request request, String name, Throwable failure) {
        StatusRuntimeException status = ApiError.from(failure);
        Status.Code code = status.getStatus().getCode();
        if (code == Status.Code.INTERNAL) {
            sockets.logs().internal().error(() -> "message=" + LogText.quoted(failure), failure);
        }
        if (code != Status.Code.CANCELLED) {
            sockets.errors()
                    .add(
                            "control " + request,
                            name,
                            code,
                            String.valueOf(status.getStatus().getDescription()),
                            ApiError.retry(status));
        }
        return status;
    }

    /** Returns whether the client reads. */
    boolean isReady() {
        return !ended && channel().isWritable();
    }

    boolean isEnded() {
        return ended;
    }

    Channel channel() {
        return context().channel();
    }

    /** Runs a task on the loop of the socket. */
    void run(Runnable task) {
        EventLoop loop = channel().eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    /** Takes no records and reads no bytes while a descriptor is expected. */
    void awaitDescriptor(boolean awaits) {
        awaitsDescriptor = awaits;
        updateReading();
    }

    @Override
    protected void refuse(ChannelHandlerContext context, Status.Code code, String text) {
        finish(record(RingRecord.ERROR, code.value(), text));
        leave();
    }

    /** Reports a broken rule, and closes the socket. */
    void refuse(Status.Code code, String text) {
        refuse(context(), code, text);
    }

    /** Closes the socket because the sidecar has ended the session. */
    void end(Status.Code code, String text) {
        finish(record(RingRecord.END, code.value(), text));
    }

    /** Sends the last record, and closes the socket. A client that does not read has little time. */
    private void finish(ByteBuf last) {
        if (ended) {
            last.release();
            return;
        }
        ended = true;
        ignoreRecords();
        updateReading();
        Channel channel = channel();
        context().writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
        channel.eventLoop().schedule(() -> channel.close(), CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void leave() {
        ControlSession current = session;
        if (current != null) {
            sockets.registry().left(current.session());
        }
    }

    private void updateReading() {
        channel().config().setAutoRead(ended || channel().isWritable() && !awaitsDescriptor);
    }

    /** Requests no further read, as the decoder otherwise does while reading is stopped. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        discardSomeReadBytes();
        context.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) throws Exception {
        updateReading();
        ControlSession current = session;
        if (current != null && isReady()) {
            current.flush();
        }
        super.channelWritabilityChanged(context);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        super.channelInactive(context);
        ended = true;
        leave();
    }

    private ChannelHandlerContext context() {
        if (own == null) {
            throw new IllegalStateException("the handler is in no pipeline");
        }
        return own;
    }

    private static ByteBuf buffer(RecordWriter record) {
        return Unpooled.wrappedBuffer(record.toBuffer());
    }
}
