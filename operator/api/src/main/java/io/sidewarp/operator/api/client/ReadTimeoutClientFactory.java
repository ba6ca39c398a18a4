// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.client;

import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Makes HTTP clients that close a connection on which nothing arrives. A router may drop the connection of a watch
 * without a word to either end. The client would then wait for events until the API server's own end of the watch,
 * which never arrives either. A closed connection makes the client watch again.
 *
 * <p>The timeout must be longer than the interval of bookmarks, which the API server sends to each watch about once a
 * minute. A connection without a request is closed after a third of the timeout. So it never carries a request that is
 * sent just before the timeout ends.
 */
final class ReadTimeoutClientFactory implements HttpClient.Factory {
    private final Vertx vertx;

    /**
     * Makes a factory of clients that use the event loops of a Vert.x instance.
     *
     * @param timeout time without a byte from the API server after which a connection is closed
     */
    ReadTimeoutClientFactory(Vertx vertx, Duration timeout) {
        this.vertx = withReadTimeout(vertx, timeout);
    }

    /** Returns a view of a Vert.x instance, since the builder of Fabric8 lets nobody change the options of its client. */
    private static Vertx withReadTimeout(Vertx vertx, Duration timeout) {
        int millis = Math.toIntExact(timeout.toMillis());
        int keepAliveSeconds = Math.toIntExact(timeout.dividedBy(3).toSeconds());
        return (Vertx) Proxy.newProxyInstance(
                Vertx.class.getClassLoader(), new Class<?>[] {Vertx.class}, (_, method, arguments) -> {
                    if (method.getName().equals("createHttpClient")
                            && arguments != null
                            && arguments[0] instanceof HttpClientOptions options) {
                        options.setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                                .setReadIdleTimeout(millis)
                                .setKeepAliveTimeout(keepAliveSeconds)
                                .setHttp2KeepAliveTimeout(keepAliveSeconds);
                    }
                    try {
                        return method.invoke(vertx, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    @Override
    public HttpClient.Builder newBuilder() {
        return new VertxHttpClientBuilder<>(this, vertx);
    }
}
