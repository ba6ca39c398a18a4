// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.management;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.telemetry.Telemetry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Answers GET requests for health (in the format of MicroProfile Health) and for metrics (in the format of Prometheus).
 * Request bodies are discarded.
 *
 * <p>The channel does not read automatically. It reads only after all received requests are answered and the last
 * answer is written. A client that does not read therefore has at most one answer in memory, however many it requests.
 */
final class ManagementHandler extends SimpleChannelInboundHandler<HttpObject> {

    private static final String JSON = "application/json; charset=UTF-8";
    private static final String TEXT = "text/plain; charset=UTF-8";
    private static final String PATHS =
            "try /q/health/live, /q/health/ready, /q/health/group/outbound, /q/health or /q/metrics\n";

    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor collector;

    /** Complete requests that arrived together with the one being answered. */
    private final ArrayDeque<HttpRequest> waiting = new ArrayDeque<>();

    private @Nullable HttpRequest incomplete;
    private boolean answering;

    /** @param collector runs metric collection, which may take too long for an event loop */
    ManagementHandler(HealthState health, Telemetry telemetry, Executor collector) {
        this.health = health;
        this.telemetry = telemetry;
        this.collector = collector;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.read();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!answering) {
            context.read();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
        HttpRequest request = part instanceof HttpRequest head ? head : incomplete;
        incomplete = request;
        if (request == null) {
            return;
        }
        if (!part.decoderResult().isSuccess()) {
            request.setDecoderResult(part.decoderResult());
        }
        if (part instanceof LastHttpContent) {
            incomplete = null;
            waiting.add(request);
            if (!answering) {
                next(context);
            }
        }
    }

    private void next(ChannelHandlerContext context) {
        HttpRequest request = waiting.poll();
        answering = request != null;
        if (request == null) {
            context.read();
        } else {
            answer(context, request);
        }
    }

    private void answer(ChannelHandlerContext context, HttpRequest request) {
        boolean keepAlive = HttpUtil.isKeepAlive(request);
        boolean head = HttpMethod.HEAD.equals(request.method());
        if (!request.decoderResult().isSuccess()) {
            send(context, false, head, HttpResponseStatus.BAD_REQUEST, TEXT, bytes("bad request\n"));
            return;
        }
        if (!head && !HttpMethod.GET.equals(request.method())) {
            send(context, keepAlive, false, HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, bytes("use GET\n"));
            return;
        }
        switch (new QueryStringDecoder(request.uri()).path()) {
            case "/q/health/live" -> health(context, keepAlive, head, Map.of("live", true));
            case "/q/health/ready" -> health(context, keepAlive, head, Map.of("ready", health.isReady()));
            case "/q/health/group/outbound" ->
                health(context, keepAlive, head, Map.of("outbound", health.isOutbound()));
            case "/q/health" -> {
                Map<String, Boolean> all = new LinkedHashMap<>();
                all.put("live", true);
                all.put("outbound", health.isOutbound());
                all.put("ready", health.isReady());
                health(context, keepAlive, head, all);
            }
            case "/q/metrics", "/metrics" ->
                metrics(context, keepAlive, head, request.headers().get(HttpHeaderNames.ACCEPT));
            default -> send(context, keepAlive, head, HttpResponseStatus.NOT_FOUND, TEXT, bytes(PATHS));
        }
    }

    private void health(ChannelHandlerContext context, boolean keepAlive, boolean head, Map<String, Boolean> checks) {
        StringBuilder json = new StringBuilder();
        boolean up = true;
        for (Map.Entry<String, Boolean> check : checks.entrySet()) {
            up &= check.getValue();
            json.append(json.isEmpty() ? "" : ",")
                    .append("{\"name\":\"")
                    .append(check.getKey())
                    .append("\",\"status\":\"")
                    .append(check.getValue() ? "UP" : "DOWN")
                    .append("\"}");
        }
        String body = "{\"status\":\"" + (up ? "UP" : "DOWN") + "\",\"checks\":[" + json + "]}\n";
        send(
                context,
                keepAlive,
                head,
                up ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE,
                JSON,
                bytes(body));
    }

    private void metrics(ChannelHandlerContext context, boolean keepAlive, boolean head, @Nullable String accept) {
        collector.execute(() -> {
            try {
                Telemetry.Exposition metrics = telemetry.scrape(accept);
                send(context, keepAlive, head, HttpResponseStatus.OK, metrics.contentType(), metrics.body());
            } catch (RuntimeException e) {
                send(
                        context,
                        false,
                        head,
                        HttpResponseStatus.INTERNAL_SERVER_ERROR,
                        TEXT,
                        bytes("metrics could not be collected: " + e + "\n"));
            }
        });
    }

    private void send(
            ChannelHandlerContext context,
            boolean keepAlive,
            boolean head,
            HttpResponseStatus status,
            String type,
            byte[] body) {
        ByteBuf content = head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body);
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, type).setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        HttpUtil.setKeepAlive(response, keepAlive);
        context.writeAndFlush(response).addListener(written -> {
            if (keepAlive && written.isSuccess()) {
                next(context);
            } else {
                context.close();
            }
        });
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
