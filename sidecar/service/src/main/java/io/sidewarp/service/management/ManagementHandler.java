// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.management;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.telemetry.Telemetry;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Answers GET of health (in the format of MicroProfile Health) and of metrics (in the format of Prometheus). */
final class ManagementHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

    private static final String JSON = "application/json; charset=UTF-8";
    private static final String TEXT = "text/plain; charset=UTF-8";
    private static final String PATHS =
            "try /q/health/live, /q/health/ready, /q/health/group/outbound, /q/health or /q/metrics\n";

    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor workers;

    ManagementHandler(HealthState health, Telemetry telemetry, Executor workers) {
        this.health = health;
        this.telemetry = telemetry;
        this.workers = workers;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
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

    /** Collecting may take longer than an event loop should be kept. */
    private void metrics(ChannelHandlerContext context, boolean keepAlive, boolean head, @Nullable String accept) {
        workers.execute(() -> {
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

    private static void send(
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
        var written = context.writeAndFlush(response);
        if (!keepAlive) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
