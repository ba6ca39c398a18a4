// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.server;

import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.ServerChannel;
import io.sidewarp.common.FailureText;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.service.peer.ApiConnections;
import io.sidewarp.service.peer.CallLimits;
import io.sidewarp.service.peer.PeerCredentialsNegotiator;
import io.sidewarp.service.peer.RequestGuard;
import io.sidewarp.settings.ConfigValidator;
import io.sidewarp.settings.SidewarpConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Serves the gRPC API on its Unix socket and, if configured, on loopback TCP. Handlers run on the event loops. The
 * framework's gRPC server is not used: this server gives the peer's credentials and the socket's mode, and has half the
 * latency.
 */
public final class GrpcApiServer implements AutoCloseable {

    /**
     * Fixed flow-control window in bytes. With an automatic window, gRPC would send a ping after each message to
     * measure the path.
     */
    private static final int FLOW_CONTROL_WINDOW = 1 << 20;

    /**
     * Request length in bytes above which gRPC itself ends the call. The limit is larger than that of
     * {@link RequestGuard}, whose status gives the reason even after the headers were sent.
     */
    private static final int MAX_MESSAGE = 4 * RequestGuard.MAX_REQUEST;

    private static final long KEEP_ALIVE_SECONDS = 5;

    /**
     * Number of calls above the limit that HTTP/2 still admits. Beyond this number clients hold calls back silently.
     * Calls that a client begins by mistake must be admitted, so that they can be refused with a status.
     */
    private static final int CALLS_TO_REFUSE = 1000;

    private final Transports transports;
    private final SidewarpConfig.Api config;
    private final String tcpHost;
    private final ApiConnections connections;
    private final List<ServerServiceDefinition> services;
    private final List<ServerInterceptor> interceptors;
    private final List<Server> servers = new ArrayList<>();
    private @Nullable UnixSocketFile socket;
    private OptionalInt tcpPort = OptionalInt.empty();

    /** @param interceptors outermost first */
    public GrpcApiServer(
            Transports transports,
            SidewarpConfig.Api config,
            String tcpHost,
            ApiConnections connections,
            List<ServerServiceDefinition> services,
            List<ServerInterceptor> interceptors) {
        this.transports = transports;
        this.config = config;
        this.tcpHost = tcpHost;
        this.connections = connections;
        this.services = services;
        this.interceptors = interceptors;
    }

    /** Binds the listeners. A failure has a message that says what to change. */
    public void start() throws IOException {
        Optional<String> noEpoll = EngineLoops.whyNoEpoll();
        if (noEpoll.isPresent()
                && (config.allowedUids().isPresent() || config.allowedGids().isPresent())) {
            throw new IOException("sidewarp.api.allowed-uids and -gids need native epoll; unset them, or make"
                    + " native epoll available: " + noEpoll.get());
        }
        Path path = Path.of(config.socket());
        UnixSocketFile file = new UnixSocketFile(path, ConfigValidator.socketMode(config));
        socket = file;
        try {
            start(transports.unixAddress(file.prepare()), transports.unixServer());
            file.publish();
        } catch (IOException e) {
            throw new IOException(
                    "cannot serve the API at " + path + ": " + reason(e) + " (setting sidewarp.api.socket)", e);
        }
        if (config.tcp().port().isPresent()) {
            startTcp(config.tcp().port().getAsInt());
        }
    }

    private void startTcp(int port) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(tcpHost), port);
        try {
            Server server = start(address, transports.tcpServer());
            tcpPort = OptionalInt.of(server.getPort());
        } catch (IOException e) {
            throw new IOException(
                    "cannot serve the API at " + address + ": " + reason(e) + " (setting sidewarp.api.tcp.port)", e);
        }
    }

    private Server start(SocketAddress address, Class<? extends ServerChannel> channel) throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address)
                .channelType(channel)
                .bossEventLoopGroup(transports.group())
                .workerEventLoopGroup(transports.group())
                .protocolNegotiator(new PeerCredentialsNegotiator(connections))
                .maxConcurrentCallsPerConnection(connections.connectionCalls() + CALLS_TO_REFUSE)
                .flowControlWindow(FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_MESSAGE)
                .permitKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .directExecutor();
        services.forEach(service -> builder.addService(RequestGuard.in(service)));
        // gRPC calls the interceptor that was added last first.
        for (ServerInterceptor interceptor : interceptors.reversed()) {
            builder.intercept(interceptor);
        }
        builder.intercept(new CallLimits());
        Server server = builder.build().start();
        servers.add(server);
        return server;
    }

    /** Returns the TCP port in use, if there is one. */
    public OptionalInt tcpPort() {
        return tcpPort;
    }

    /** Accepts no more calls, gives calls in progress some time to finish, and removes the socket. */
    public void stop(long millis) {
        servers.forEach(Server::shutdown);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            for (Server server : servers) {
                if (!server.awaitTermination(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                    server.shutdownNow();
                }
            }
        } catch (InterruptedException e) {
            servers.forEach(Server::shutdownNow);
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        servers.forEach(Server::shutdownNow);
        if (socket != null) {
            socket.close();
        }
    }

    private static String reason(Throwable failure) {
        Throwable deepest = FailureText.root(failure);
        if (deepest instanceof FileSystemException file) {
            return FailureText.withFile(file);
        }
        return deepest.getMessage() == null ? deepest.toString() : deepest.getMessage();
    }
}
