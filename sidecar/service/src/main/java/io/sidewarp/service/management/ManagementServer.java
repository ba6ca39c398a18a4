// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.management;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.status.SidecarStatus;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.settings.SidewarpConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * HTTP server for probes and scrapers. It is small and shares the existing event loops. The framework's HTTP server
 * with its own loops and pools would be the larger part of an idle sidecar.
 *
 * <p>Untrusted clients may reach this server. The number of connections bounds its memory: each has one request at a
 * time, and further requests that fit into one read.
 */
public final class ManagementServer implements AutoCloseable {

    private static final int IDLE_SECONDS = 60;

    /** Read size in bytes. Requests are short, and all requests of one read are decoded at once. */
    private static final int READ_OCTETS = 2048;

    private final Transports transports;
    private final SidewarpConfig.Management config;
    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor collector;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** Connections, oldest first. Guarded by the set itself. */
    private final LinkedHashSet<Channel> connections = new LinkedHashSet<>();

    private @Nullable InetSocketAddress address;

    /** Source of the data of the status page, or null while there is no page. */
    private volatile @Nullable SidecarStatus status;

    /** @param collector runs metric collection: at most one task for each connection, preferably one at a time */
    public ManagementServer(
            Transports transports,
            SidewarpConfig.Management config,
            HealthState health,
            Telemetry telemetry,
            Executor collector) {
        this.transports = transports;
        this.config = config;
        this.health = health;
        this.telemetry = telemetry;
        this.collector = collector;
    }

    /** Binds the listener. A failure has a message that says what to change. */
    public void start() throws IOException {
        InetSocketAddress wanted = new InetSocketAddress(config.host(), config.port());
        if (wanted.isUnresolved()) {
            throw new IOException("sidewarp.management.host is " + config.host()
                    + ", which has no known address; set an IP address or a name that resolves");
        }
        ChannelFuture bound = new ServerBootstrap()
                .group(transports.group())
                .channel(transports.tcpServer())
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_OCTETS))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        admit(channel);
                        channel.pipeline()
                                .addLast(
                                        new ReadTimeoutHandler(IDLE_SECONDS),
                                        new HttpServerCodec(),
                                        new ManagementHandler(health, telemetry, collector, () -> status));
                    }
                })
                .bind(wanted)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen at " + wanted + " for health and metrics: "
                            + bound.cause().getMessage()
                            + "; set sidewarp.management.host to an address of this machine or pod, and"
                            + " sidewarp.management.port to a free port, or to 0 for any",
                    bound.cause());
        }
        channels.add(bound.channel());
        address = (InetSocketAddress) bound.channel().localAddress();
    }

    /**
     * Admits a connection. Above the limit it replaces the oldest one, so that idle connections cannot lock out a
     * probe. A failed probe would end the pod.
     */
    private void admit(Channel channel) {
        channels.add(channel);
        Channel oldest = null;
        synchronized (connections) {
            if (connections.size() >= config.connections()) {
                oldest = connections.removeFirst();
            }
            connections.add(channel);
        }
        channel.closeFuture().addListener(closed -> {
            synchronized (connections) {
                connections.remove(channel);
            }
        });
        if (oldest != null) {
            oldest.close();
        }
    }

    /** Serves the status page from now on. */
    public void serve(SidecarStatus page) {
        status = page;
    }

    /** Returns the listening address. */
    public @Nullable InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        channels.close().awaitUninterruptibly();
    }
}
