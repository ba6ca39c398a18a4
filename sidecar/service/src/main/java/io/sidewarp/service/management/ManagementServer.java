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
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.telemetry.Telemetry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * HTTP for probes and scrapers. A few lines over the event loops that are there anyway; the framework's HTTP server with
 * its own loops and pools would be the larger part of an idle sidecar.
 *
 * <p>Strangers may reach it. What it holds is bounded by the number of connections: each has one request at a time, and
 * behind that as many as fit into one read.
 */
public final class ManagementServer implements AutoCloseable {

    private static final int IDLE_SECONDS = 60;

    /** Requests are short, and all that come with one read are decoded at once. */
    private static final int READ_OCTETS = 2048;

    private final Transports transports;
    private final SidewarpConfig.Management config;
    private final HealthState health;
    private final Telemetry telemetry;
    private final Executor collector;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** The connections, the oldest first. Guarded by itself. */
    private final Set<Channel> connections = new LinkedHashSet<>();

    private @Nullable InetSocketAddress address;

    /** @param collector collects metrics: one task for each connection at most, which should be done one at a time */
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

    /** Binds. Fails with a message that says what to change. */
    public void start() throws IOException {
        InetSocketAddress wanted = new InetSocketAddress(config.host(), config.port());
        if (wanted.isUnresolved()) {
            throw new IOException("sidewarp.management.host is " + config.host() + ", which is not known here");
        }
        ChannelFuture bound = new ServerBootstrap()
                .group(transports.group())
                .channel(transports.tcpServer())
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_OCTETS))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        admit(channel);
                        channel.pipeline()
                                .addLast(
                                        new ReadTimeoutHandler(IDLE_SECONDS),
                                        new HttpServerCodec(),
                                        new ManagementHandler(health, telemetry, collector));
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
     * One more than there may be takes the place of the oldest: connections that are held open do not keep a probe out,
     * whose failure would end the pod.
     */
    private void admit(Channel channel) {
        Channel oldest = null;
        synchronized (connections) {
            if (connections.size() >= config.connections()) {
                oldest = connections.iterator().next();
                connections.remove(oldest);
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

    /** Where it listens. */
    public @Nullable InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        channels.close().awaitUninterruptibly();
    }
}
