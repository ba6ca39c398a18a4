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
import io.sidewarp.common.Json;
import io.sidewarp.common.status.StatusPage;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.status.SidecarStatus;
import io.sidewarp.service.telemetry.Telemetry;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers GET requests for health (in the format of MicroProfile Health), for metrics (in the format of Prometheus) and
 * for the status page. Request bodies are discarded. The status page does not exist for clients on other hosts.
 *
 * <p>The channel does not read automatically. It reads only after all received requests are answered and the last
 * answer is written. A client that does not read therefore has at most one answer in memory, however many it requests.
 */
final class ManagementHandler extends SimpleChannelInboundHandler<HttpObject> {

    private static final String JSON = "application/json; charset=UTF-8";
    private static final String TEXT = "text/plain; charset=UTF-8";
    private static final String PATHS =
            "try /q/health/live, /q/health/ready, /q/health/group/outbound, /q/health, /q/metrics, or on this host"
                    + " /status\n";

    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor collector;
    private final Supplier<@Nullable SidecarStatus> statusPage;

    /** Complete requests that arrived together with the one being answered. */
    private final ArrayDeque<HttpRequest> waiting = new ArrayDeque<>();

    private @Nullable HttpRequest incomplete;
    private boolean answering;

    /**
     * @param collector runs metric collection, which may take too long for an event loop
     * @param statusPage returns the data of the status page, or null while there is no page
     */
    ManagementHandler(
            HealthState health, Telemetry telemetry, Executor collector, Supplier<@Nullable SidecarStatus> statusPage) {
        this.health = health;
        this.telemetry = telemetry;
        this.collector = collector;
        this.statusPage = statusPage;
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
        } else if (!request.decoderResult().isSuccess()) {
            HttpUtil.setKeepAlive(request, false);
            send(context, request, HttpResponseStatus.BAD_REQUEST, "bad request\n");
        } else if (!HttpMethod.GET.equals(request.method()) && !HttpMethod.HEAD.equals(request.method())) {
            send(context, request, HttpResponseStatus.METHOD_NOT_ALLOWED, "use GET\n");
        } else {
            answer(context, request);
        }
    }

    private void answer(ChannelHandlerContext context, HttpRequest request) {
        String path = new QueryStringDecoder(request.uri()).path();
        switch (path) {
            case StatusPage.PATH, StatusPage.DATA_PATH -> status(context, request, path);
            case "/q/health/live" -> health(context, request, "live");
            case "/q/health/ready" -> health(context, request, "ready");
            case "/q/health/group/outbound" -> health(context, request, "outbound");
            case "/q/health" -> health(context, request, "live", "outbound", "ready");
            case "/q/metrics", "/metrics" -> collector.execute(() -> metrics(context, request));
            default -> send(context, request, HttpResponseStatus.NOT_FOUND, PATHS);
        }
    }

    private void status(ChannelHandlerContext context, HttpRequest request, String path) {
        SidecarStatus page = statusPage.get();
        boolean local = context.channel().remoteAddress() instanceof InetSocketAddress client
                && StatusPage.isLocal(client.getAddress(), request.headers().getAll(HttpHeaderNames.HOST));
        if (page == null || !local) {
            send(context, request, HttpResponseStatus.NOT_FOUND, PATHS);
        } else if (path.equals(StatusPage.PATH)) {
            send(context, request, HttpResponseStatus.OK, StatusPage.HTML_TYPE, StatusPage.html(), StatusPage.HEADERS);
        } else {
            page.data().whenComplete((data, failure) -> {
                if (failure == null) {
                    send(context, request, HttpResponseStatus.OK, StatusPage.JSON_TYPE, data, StatusPage.HEADERS);
                } else {
                    String reason = "the state could not be collected: " + failure + "\n";
                    send(context, request, HttpResponseStatus.INTERNAL_SERVER_ERROR, reason);
                }
            });
        }
    }

    private void health(ChannelHandlerContext context, HttpRequest request, String... checks) {
        StringJoiner json = new StringJoiner(",");
        boolean allUp = true;
        for (String check : checks) {
            boolean up = switch (check) {
                case "outbound" -> health.isOutbound();
                case "ready" -> health.isReady();
                default -> true;
            };
            allUp &= up;
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("name", check);
            answer.put("status", status(up));
            if (check.equals("ready")) {
                health.problem().ifPresent(problem -> answer.put("data", Map.of("problem", problem)));
            }
            json.add(Json.write(answer));
        }
        String body = "{\"status\":\"" + status(allUp) + "\",\"checks\":[" + json + "]}\n";
        HttpResponseStatus status = allUp ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        send(context, request, status, JSON, body.getBytes(StandardCharsets.UTF_8));
    }

    private static String status(boolean up) {
        return up ? "UP" : "DOWN";
    }

    private void metrics(ChannelHandlerContext context, HttpRequest request) {
        try {
            Telemetry.Exposition metrics = telemetry.scrape(request.headers().get(HttpHeaderNames.ACCEPT));
            send(context, request, HttpResponseStatus.OK, metrics.contentType(), metrics.body());
        } catch (RuntimeException e) {
            HttpUtil.setKeepAlive(request, false);
            String reason = "metrics could not be collected: " + e + "\n";
            send(context, request, HttpResponseStatus.INTERNAL_SERVER_ERROR, reason);
        }
    }

    private void send(ChannelHandlerContext context, HttpRequest request, HttpResponseStatus status, String text) {
        send(context, request, status, TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    private void send(
            ChannelHandlerContext context, HttpRequest request, HttpResponseStatus status, String type, byte[] body) {
        send(context, request, status, type, body, Map.of());
    }

    private void send(
            ChannelHandlerContext context,
            HttpRequest request,
            HttpResponseStatus status,
            String type,
            byte[] body,
            Map<String, String> headers) {
        boolean keepAlive = HttpUtil.isKeepAlive(request);
        ByteBuf content =
                HttpMethod.HEAD.equals(request.method()) ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body);
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, type).setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        headers.forEach(response.headers()::set);
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
}
