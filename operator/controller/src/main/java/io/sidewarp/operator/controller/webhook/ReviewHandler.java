// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.buffer.ByteBuf;
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
import java.util.Arrays;
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
    private static final Logger LOG = Logger.getLogger(ReviewHandler.class);
    private static final int FIRST_OCTETS = 4096;
    private static final byte[] NOTHING = {};

    /** Events of the pipeline. */
    enum Event {
        /** The connection ends unless a request has begun. */
        END
    }

    private record Answer(HttpResponseStatus status, String type, byte[] body) {
        static Answer text(HttpResponseStatus status, @Nullable String text) {
            return new Answer(status, "text/plain", (text + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Answer for a client that is gone. */
    private static final Answer GONE = Answer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "gone");

    private final ReviewConnections.Connection connection;
    private final OperatorConfig.Webhook config;
    private final Executor decisions;
    private final Reviewer reviewer;
    private final LogInterval failures;

    /** Request in progress, until its answer is sent. */
    private @Nullable HttpRequest request;

    /** Final answer to a refused request, independent of the rest of the request. */
    private @Nullable Answer refusal;

    private boolean complete;
    private byte[] body = NOTHING;
    private int length;
    private @Nullable ScheduledFuture<?> deadline;

    ReviewHandler(
            ReviewConnections.Connection connection,
            OperatorConfig.Webhook config,
            Executor decisions,
            Reviewer reviewer,
            LogInterval failures) {
        this.connection = connection;
        this.config = config;
        this.decisions = decisions;
        this.reviewer = reviewer;
        this.failures = failures;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        await(context, config.requestTimeout());
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        body = NOTHING;
        settle();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == Event.END && request == null) {
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
            answer(context, false, Answer.text(HttpResponseStatus.BAD_REQUEST, "no HTTP"));
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
                : Answer.text(HttpResponseStatus.NOT_FOUND, "POST an AdmissionReview to " + WebhookServer.PATH);
        await(context, config.requestTimeout());
    }

    /**
     * Stores a part of the body. The body of a refused request is discarded, so that the client goes on to read the
     * reason.
     */
    private void take(ByteBuf part) {
        int octets = part.readableBytes();
        if (refusal == null && length + octets > WebhookServer.MAX_REVIEW_OCTETS) {
            refuse(
                    HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                    "more than " + WebhookServer.MAX_REVIEW_OCTETS + " bytes");
        }
        if (refusal == null && length + octets > body.length) {
            int larger = Math.clamp(
                    Math.max(body.length * 2L, length + octets), FIRST_OCTETS, WebhookServer.MAX_REVIEW_OCTETS);
            if (connection.hold(larger)) {
                body = Arrays.copyOf(body, larger);
            } else {
                refuse(HttpResponseStatus.SERVICE_UNAVAILABLE, "other reviews use all the memory for reviews");
            }
        }
        if (refusal == null) {
            part.readBytes(body, length, octets);
            length += octets;
        }
    }

    private void refuse(HttpResponseStatus status, String reason) {
        refusal = Answer.text(status, reason);
        release();
    }

    private void release() {
        body = NOTHING;
        length = 0;
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
        byte[] review = Arrays.copyOf(body, length);
        body = NOTHING;
        try {
            decisions.execute(() -> {
                Answer answer = context.channel().isActive() ? decide(head, review) : GONE;
                context.executor().execute(() -> {
                    release();
                    // The answer is in memory already. The call makes room for it by cutting off clients that do not
                    // read.
                    connection.hold(answer.body().length);
                    answer(context, keepAlive, answer);
                });
            });
        } catch (RejectedExecutionException e) {
            // The program is ending.
            connection.cutOff();
        }
    }

    private Answer decide(HttpRequest head, byte[] review) {
        try {
            return new Answer(HttpResponseStatus.OK, "application/json", reviewer.review(head.headers(), review));
        } catch (IllegalArgumentException e) {
            return Answer.text(HttpResponseStatus.BAD_REQUEST, e.getMessage());
        } catch (InterruptedException | RuntimeException | Error e) {
            // The client gets an answer to any failure, and the connection stays usable for its next request.
            failures.next().ifPresent(omitted -> LOG.errorf(e, "event=admission-failed omitted=%d", omitted));
            return Answer.text(HttpResponseStatus.INTERNAL_SERVER_ERROR, "see the controller's log");
        }
    }

    private void answer(ChannelHandlerContext context, boolean wanted, Answer answer) {
        boolean keepAlive = wanted && connection.goesOn();
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, answer.status(), Unpooled.wrappedBuffer(answer.body()));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, answer.type())
                .setInt(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
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
