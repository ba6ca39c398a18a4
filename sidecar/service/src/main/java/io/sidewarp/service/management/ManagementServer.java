// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.management;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.telemetry.Telemetry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * HTTP for probes and scrapers. A few lines over the event loops that are there anyway; the framework's HTTP server with
 * its own loops and pools would be the larger part of an idle sidecar.
 */
public final class ManagementServer implements AutoCloseable {

    private static final int MAX_REQUEST = 8 << 10;
    private static final int IDLE_SECONDS = 60;

    private final Transports transports;
    private final SidewarpConfig.Management config;
    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor workers;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private @Nullable InetSocketAddress address;

    public ManagementServer(
            Transports transports,
            SidewarpConfig.Management config,
            HealthState health,
            Telemetry telemetry,
            Executor workers) {
        this.transports = transports;
        this.config = config;
        this.health = health;
        this.telemetry = telemetry;
        this.workers = workers;
    }

    /** Binds. Fails with a message that says what to change. */
    public void start() throws IOException {
        InetSocketAddress wanted = new InetSocketAddress(config.host(), config.port());
        if (wanted.isUnresolved()) {
            throw new IOException("sidewarp.management.host is " + config.host() + ", which is not known here");
        }
        ChannelFuture bound = new ServerBootstrap()
                .group(transports.group())
                .channel(transports.tcpServer())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        channel.pipeline()
                                .addLast(
                                        new ReadTimeoutHandler(IDLE_SECONDS),
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(MAX_REQUEST),
                                        new ManagementHandler(health, telemetry, workers));
                    }
                })
                .bind(wanted)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen at " + wanted + " for health and metrics: "
                            + bound.cause().getMessage()
                            + "; set sidewarp.management.port to a free port, or to 0 for any",
                    bound.cause());
        }
        channels.add(bound.channel());
        address = (InetSocketAddress) bound.channel().localAddress();
    }

    /** Where it listens. */
    public @Nullable InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        channels.close().awaitUninterruptibly();
    }
}
