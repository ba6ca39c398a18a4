// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Handles the requests of one connection, one after the other. Each step of the client has a time limit: handshake and
 * first request, next request, rest of the request, and reading the answer. Bytes that arrive within the time do not
 * extend it.
 */
final class RequestHandler extends SimpleChannelInboundHandler<HttpObject> {
    /** Event of the pipeline: the connection ends unless a request has begun. */
    static final Object END = "end";

    private static final Logger LOG = Logger.getLogger(RequestHandler.class);

    /** Failures are logged with a stack trace, at most one a minute. */
    private static final LogInterval FAILURES = new LogInterval(Duration.ofMinutes(1), System::nanoTime);

    private final String server;
    private final Connections.Connection connection;
    private final Limits limits;
    private final Executor answers;
    private final Responder responder;
    private final ByteBuf body;

    /** Request in progress, until its answer is sent. */
    private @Nullable HttpRequest request;

    /** Final answer to a refused request, independent of the rest of the request. */
    private @Nullable Answer refusal;

    private boolean complete;
    private @Nullable ScheduledFuture<?> deadline;

    RequestHandler(
            String server, Connections.Connection connection, Limits limits, Executor answers, Responder responder) {
        this.server = server;
        this.connection = connection;
        this.limits = limits;
        this.answers = answers;
        this.responder = responder;
        this.body = Unpooled.buffer(0, limits.body());
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        await(context, limits.requestTimeout());
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        body.capacity(0);
        settle();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (END.equals(event) && request == null) {
            context.close();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
        if (part instanceof HttpRequest head) {
            if (request != null) {
                // No client sends a request before it has the answer to the previous request.
                connection.cutOff();
                return;
            }
            begin(context, head);
        }
        if (request == null || complete) {
            return;
        }
        if (!part.decoderResult().isSuccess()) {
            complete = true;
            answer(context, false, response(Answer.text(400, "no HTTP")));
            return;
        }
        if (part instanceof HttpContent content) {
            take(content.content());
        }
        if (part instanceof LastHttpContent) {
            complete = true;
            decide(context, request);
        }
    }

    private void begin(ChannelHandlerContext context, HttpRequest head) {
        request = head;
        complete = false;
        refusal = responder.refuse(head).orElse(null);
        await(context, limits.requestTimeout());
    }

    /**
     * Stores a part of the body. The body of a refused request is discarded, so that the client goes on to read the
     * reason.
     */
    private void take(ByteBuf part) {
        if (refusal != null) {
            return;
        }
        int length = body.readableBytes() + part.readableBytes();
        if (length > body.maxCapacity()) {
            refuse(413, "more than " + body.maxCapacity() + " bytes");
        } else if (length > body.capacity()
                && !connection.hold(body.alloc().calculateNewCapacity(length, body.maxCapacity()))) {
            refuse(503, "other requests use all the memory for requests");
        } else {
            body.writeBytes(part);
        }
    }

    private void refuse(int status, String reason) {
        refusal = Answer.text(status, reason);
        release();
    }

    private void release() {
        body.capacity(0);
        connection.hold(0);
    }

    private void decide(ChannelHandlerContext context, HttpRequest head) {
        boolean keepAlive = HttpUtil.isKeepAlive(head);
        if (refusal != null) {
            answer(context, keepAlive, response(refusal));
            return;
        }
        settle();
        connection.beginAnswer();
        byte[] content = ByteBufUtil.getBytes(body);
        body.capacity(0);
        try {
            answers.execute(() -> {
                FullHttpResponse answer = response(
                        context.channel().isActive() ? decide(head, content) : Answer.text(503, "the client is gone"));
                context.executor().execute(() -> {
                    release();
                    // The answer is in memory already. The call makes room for it by cutting off clients that do not
                    // read.
                    connection.hold(answer.content().readableBytes());
                    answer(context, keepAlive, answer);
                });
            });
        } catch (RejectedExecutionException e) {
            // The program is ending.
            connection.cutOff();
        }
    }

    private Answer decide(HttpRequest head, byte[] content) {
        try {
            return responder.answer(head, content);
        } catch (IllegalArgumentException e) {
            return Answer.text(400, e.getMessage());
        } catch (InterruptedException | RuntimeException | Error e) {
            // The client gets an answer to any failure, and the connection stays usable for its next request.
            FAILURES.next()
                    .ifPresent(omitted -> LOG.errorf(e, "event=request-failed server=%s omitted=%d", server, omitted));
            return Answer.text(500, "see the controller's log");
        }
    }

    private static FullHttpResponse response(Answer answer) {
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(answer.status()),
                Unpooled.wrappedBuffer(answer.body()));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, answer.type())
                .setInt(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        if (answer.retryAfter().isPositive()) {
            response.headers()
                    .set(HttpHeaderNames.RETRY_AFTER, answer.retryAfter().toSeconds());
        }
        return response;
    }

    private void answer(ChannelHandlerContext context, boolean wanted, FullHttpResponse response) {
        boolean keepAlive =
                wanted && connection.goesOn() && limits.idleTimeout().isPositive();
        HttpUtil.setKeepAlive(response, keepAlive);
        await(context, limits.requestTimeout());
        context.writeAndFlush(response).addListener(written -> {
            if (keepAlive && written.isSuccess() && connection.goesOn()) {
                request = null;
                release();
                await(context, limits.idleTimeout());
            } else {
                context.close();
            }
        });
    }

    /** Starts the time limit for the client's next step. */
    private void await(ChannelHandlerContext context, Duration time) {
        settle();
        connection.waitForClient();
        deadline = context.executor().schedule(connection::cutOff, time.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void settle() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
