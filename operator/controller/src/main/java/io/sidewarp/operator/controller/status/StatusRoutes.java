// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.status;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.sidewarp.common.status.StatusPage;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Serves the status page on the port of health and metrics. The page does not exist for clients on other hosts. */
@ApplicationScoped
public class StatusRoutes {
    private final OperatorConfig config;
    private final ControllerStatus status;

    public StatusRoutes(OperatorConfig config, ControllerStatus status) {
        this.config = config;
        this.status = status;
    }

    void register(@Observes Router router) {
        if (config.statusPage()) {
            router.get(StatusPage.PATH).handler(StatusRoutes::onlyLocal).handler(StatusRoutes::page);
            router.get(StatusPage.DATA_PATH).handler(StatusRoutes::onlyLocal).blockingHandler(this::data, false);
        }
    }

    private static void page(RoutingContext context) {
        send(context, StatusPage.HTML_TYPE, StatusPage.html());
    }

    private static void onlyLocal(RoutingContext context) {
        if (isLocal(context.request())) {
            context.next();
        } else {
            context.fail(HttpResponseStatus.NOT_FOUND.code());
        }
    }

    /** Asks the API server, so it runs on a thread that may wait. */
    private void data(RoutingContext context) {
        byte[] data = status.data();
        if (data.length == 0) {
            context.fail(HttpResponseStatus.SERVICE_UNAVAILABLE.code());
        } else {
            send(context, StatusPage.JSON_TYPE, data);
        }
    }

    private static boolean isLocal(HttpServerRequest request) {
        return StatusPage.isLocal(
                address(request.connection().remoteAddress()), request.headers().getAll("Host"));
    }

    private static @Nullable InetAddress address(@Nullable SocketAddress client) {
        return client == null || client.hostAddress() == null ? null : InetAddress.ofLiteral(client.hostAddress());
    }

    private static void send(RoutingContext context, String type, byte[] body) {
        HttpServerResponse response = context.response().putHeader("Content-Type", type);
        StatusPage.HEADERS.forEach(response::putHeader);
        response.end(Buffer.buffer(body));
    }
}
