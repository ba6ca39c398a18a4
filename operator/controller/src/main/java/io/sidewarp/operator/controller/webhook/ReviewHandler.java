// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.nio.charset.StandardCharsets;
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
final class ReviewHandler extends SimpleChannelInboundHandler<HttpObject> {
    /** Event of the pipeline: the connection ends unless a request has begun. */
    static final Object END = "end";

    private static final Logger LOG = Logger.getLogger(ReviewHandler.class);

    /** Failures are logged with a stack trace, at most one a minute. */
    private static final LogInterval FAILURES = new LogInterval(Duration.ofMinutes(1), System::nanoTime);

    private final ReviewConnections.Connection connection;
    private final OperatorConfig.Webhook config;
    private final Executor decisions;
    private final Reviewer reviewer;
    private final ByteBuf body = Unpooled.buffer(0, WebhookServer.MAX_REVIEW_OCTETS);

    /** Request in progress, until its answer is sent. */
    private @Nullable HttpRequest request;

    /** Final answer to a refused request, independent of the rest of the request. */
    private @Nullable FullHttpResponse refusal;

    private boolean complete;
    private @Nullable ScheduledFuture<?> deadline;

    ReviewHandler(
            ReviewConnections.Connection connection,
            OperatorConfig.Webhook config,
            Executor decisions,
            Reviewer reviewer) {
        this.connection = connection;
        this.config = config;
        this.decisions = decisions;
        this.reviewer = reviewer;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        await(context, config.requestTimeout());
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
                // No client of Kubernetes sends a request before it has the answer to the previous request.
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
            answer(context, false, text(HttpResponseStatus.BAD_REQUEST, "no HTTP"));
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
        refusal = HttpMethod.POST.equals(head.method())
                        && new QueryStringDecoder(head.uri()).path().equals(WebhookServer.PATH)
                ? null
                : text(HttpResponseStatus.NOT_FOUND, "POST an AdmissionReview to " + WebhookServer.PATH);
        await(context, config.requestTimeout());
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
            refuse(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "more than " + body.maxCapacity() + " bytes");
        } else if (length > body.capacity()
                && !connection.hold(body.alloc().calculateNewCapacity(length, body.maxCapacity()))) {
            refuse(HttpResponseStatus.SERVICE_UNAVAILABLE, "other reviews use all the memory for reviews");
        } else {
            body.writeBytes(part);
        }
    }

    private void refuse(HttpResponseStatus status, String reason) {
        refusal = text(status, reason);
        release();
    }

    private void release() {
        body.capacity(0);
        connection.hold(0);
    }

    private void decide(ChannelHandlerContext context, HttpRequest head) {
        boolean keepAlive = HttpUtil.isKeepAlive(head);
        if (refusal != null) {
            answer(context, keepAlive, refusal);
            return;
        }
        settle();
        connection.decide();
        byte[] review = ByteBufUtil.getBytes(body);
        body.capacity(0);
        try {
            decisions.execute(() -> {
                FullHttpResponse answer = context.channel().isActive()
                        ? decide(head, review)
                        : text(HttpResponseStatus.SERVICE_UNAVAILABLE, "the client is gone");
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

    private FullHttpResponse decide(HttpRequest head, byte[] review) {
        try {
            return response(HttpResponseStatus.OK, "application/json", reviewer.review(head.headers(), review));
        } catch (IllegalArgumentException e) {
            return text(HttpResponseStatus.BAD_REQUEST, e.getMessage());
        } catch (InterruptedException | RuntimeException | Error e) {
            // The client gets an answer to any failure, and the connection stays usable for its next request.
            FAILURES.next().ifPresent(omitted -> LOG.errorf(e, "event=admission-failed omitted=%d", omitted));
            return text(HttpResponseStatus.INTERNAL_SERVER_ERROR, "see the controller's log");
        }
    }

    private static FullHttpResponse text(HttpResponseStatus status, @Nullable String text) {
        return response(status, "text/plain", (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private static FullHttpResponse response(HttpResponseStatus status, String type, byte[] body) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, type).setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        return response;
    }

    private void answer(ChannelHandlerContext context, boolean wanted, FullHttpResponse response) {
        boolean keepAlive = wanted && connection.goesOn();
        HttpUtil.setKeepAlive(response, keepAlive);
        await(context, config.requestTimeout());
        context.writeAndFlush(response).addListener(written -> {
            if (keepAlive && written.isSuccess() && connection.goesOn()) {
                request = null;
                release();
                await(context, config.idleTimeout());
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
