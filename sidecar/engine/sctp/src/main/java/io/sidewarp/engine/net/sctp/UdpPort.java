// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The UDP port of an endpoint: the configured port, or any free port while another program uses that one. Belongs to
 * its loop.
 */
final class UdpPort {

    private static final Logger LOG = LoggerFactory.getLogger(UdpPort.class);

    private final UdpEndpoint endpoint;
    private final InetAddress local;
    private final SctpSettings settings;
    private final List<UdpChannel> channels = new ArrayList<>();
    private @Nullable PacketBundler output;
    private boolean displaced;
    private boolean closed;

    UdpPort(UdpEndpoint endpoint, InetAddress local) {
        this.endpoint = endpoint;
        this.local = local;
        this.settings = endpoint.settings();
    }

    /** Binds to a port. Call this once, before anything else. */
    CompletableFuture<Void> open() {
        return bind(settings.udpPort())
                .exceptionallyCompose(cause -> settings.udpPort() == 0
                        ? CompletableFuture.failedFuture(cause)
                        : bind(0).thenApply(udp -> {
                            displaced = true;
                            LOG.info(
                                    "UDP port {} of {} is not available ({}); SCTP associations begin at port {}, and"
                                            + " peers cannot begin any",
                                    settings.udpPort(),
                                    local.getHostAddress(),
                                    cause.getMessage(),
                                    udp.localAddress().getPort());
                            return udp;
                        }))
                .thenAccept(this::use);
    }

    private CompletableFuture<UdpChannel> bind(int port) {
        return UdpChannel.bind(endpoint, new InetSocketAddress(local, port));
    }

    private void use(UdpChannel udp) {
        channels.add(udp);
        output = new PacketBundler(udp, endpoint);
    }

    /**
     * Binds to the configured port, where peers look for it. Fails with a {@link BindException} when the port is in
     * use.
     */
    CompletableFuture<Void> settle() {
        if (!displaced) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> result = new CompletableFuture<>();
        bind(settings.udpPort()).whenComplete((udp, failure) -> {
            if (failure == null) {
                moveTo(udp);
            }
            if (displaced) {
                result.completeExceptionally(new BindException("UDP port " + settings.udpPort() + " of "
                        + local.getHostAddress() + " is in use, so that no peer would find a listener: end the other"
                        + " program, or set another UDP port here and at the peers"));
            } else {
                result.complete(null);
            }
        });
        return result;
    }

    /**
     * Moves to the configured port. The former port stays open, because peers use it until they get a packet from the
     * new port (RFC 6951 section 5.4).
     */
    private void moveTo(UdpChannel udp) {
        if (closed) {
            udp.close();
            return;
        }
        output().flush();
        use(udp);
        displaced = false;
        LOG.info("UDP port {} of {} is free now, and SCTP uses it", settings.udpPort(), local.getHostAddress());
    }

    UdpChannel channel() {
        if (channels.isEmpty()) {
            throw new IllegalStateException("not bound");
        }
        return channels.getLast();
    }

    /** Returns the output for packets of associations. */
    PacketBundler output() {
        if (output == null) {
            throw new IllegalStateException("not bound");
        }
        return output;
    }

    CompletableFuture<Void> close() {
        closed = true;
        return CompletableFuture.allOf(channels.stream().map(UdpChannel::close).toArray(CompletableFuture[]::new));
    }
}
