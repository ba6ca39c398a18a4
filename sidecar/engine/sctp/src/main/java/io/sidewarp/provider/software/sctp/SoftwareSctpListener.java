// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpListener;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Listens for sessions on SCTP associations. A wildcard stands for the endpoint with configured addresses. If none are
 * configured, it stands for one endpoint at each address of this machine. By default an endpoint of DDP has one address
 * (RFC 5043 section 7.2).
 */
final class SoftwareSctpListener extends SoftwareListener implements SoftwareAssociation.Keeper {

    private final SctpNetwork network;
    private final List<SctpListener> bound = new CopyOnWriteArrayList<>();
    private volatile @Nullable InetSocketAddress localAddress;
    private volatile OptionalInt udpPort = OptionalInt.empty();
    private volatile boolean closed;

    SoftwareSctpListener(
            SoftwareDevice device, SctpNetwork network, ListenAttributes attributes, ConnectionRequestHandler handler) {
        super(device, network.loop(), attributes, handler);
        this.network = network;
    }

    @Override
    protected CompletableFuture<VerbsListener> listen(InetSocketAddress address) {
        List<InetAddress> addresses;
        try {
            addresses = address.getAddress().isAnyLocalAddress() ? localAddresses() : List.of(address.getAddress());
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Integer> port = CompletableFuture.completedFuture(address.getPort());
        for (InetAddress local : addresses) {
            port = port.thenCompose(chosen -> network.endpoint(local).thenCompose(endpoint -> bind(endpoint, chosen)));
        }
        return port.<VerbsListener>thenApply(chosen -> {
                    localAddress = new InetSocketAddress(address.getAddress(), chosen);
                    return this;
                })
                .exceptionallyCompose(
                        failure -> unbind().thenCompose(ignored -> CompletableFuture.failedFuture(failure)));
    }

    /**
     * Listens at an endpoint, and completes with the port. Runs on the loop, so that this listener is known before a
     * peer finds the port.
     */
    private CompletableFuture<Integer> bind(SctpEndpoint endpoint, int port) {
        return CompletableFuture.supplyAsync(
                        () -> endpoint.listen(port, handler(endpoint))
                                .thenApply(listener -> onBound(endpoint, listener)),
                        loop())
                .thenCompose(chosen -> chosen);
    }

    private int onBound(SctpEndpoint endpoint, SctpListener listener) {
        bound.add(listener);
        network.onListening(new SctpNetwork.Door(endpoint, listener.port()), this);
        if (udpPort.isEmpty() && endpoint.udpPort() != 0) {
            udpPort = OptionalInt.of(endpoint.udpPort());
        }
        return listener.port();
    }

    /** Returns one address of each endpoint that a wildcard stands for. */
    private List<InetAddress> localAddresses() throws SocketException {
        if (!network.together().isEmpty()) {
            return List.of(network.together().getFirst());
        }
        List<InetAddress> addresses = new ArrayList<>();
        for (NetworkInterface device : (Iterable<NetworkInterface>) NetworkInterface.networkInterfaces()::iterator) {
            if (device.isUp()) {
                device.inetAddresses()
                        .filter(address -> !address.isLinkLocalAddress())
                        .forEach(addresses::add);
            }
        }
        return addresses;
    }

    private SctpAssociationHandler handler(SctpEndpoint endpoint) {
        return new SctpAssociationHandler() {
            @Override
            public SctpUser onAssociation(SctpAssociation transport) {
                return SoftwareSctpListener.this.onAssociation(endpoint, transport);
            }

            @Override
            public void onRefused(InetSocketAddress remote) {
                device().events().onRefused(remote, "SCTP associations");
            }
        };
    }

    private SctpUser onAssociation(SctpEndpoint endpoint, SctpAssociation transport) {
        SctpNetwork.Door door =
                new SctpNetwork.Door(endpoint, transport.localAddress().getPort());
        return new SoftwareAssociation(network, transport, door, this).sessions();
    }

    @Override
    public void onEstablished(SoftwareAssociation association) {
        association.endUnlessUsed(attributes().startupTimeout());
    }

    @Override
    public void onClosed(SoftwareAssociation association, String cause) {
        if (association.sessions().streams() == 0) {
            device().events().onStartupFailed(association.transport().remoteAddress(), cause);
        }
    }

    /** Handles a peer's request for a session. Returns false when no application can be asked at present. */
    boolean onInitiate(SoftwareAssociation association, DdpStreamSession session, SessionStartup asked) {
        if (closed) {
            return false;
        }
        return new IncomingSctpSetup(device(), this, association, session, asked).ask();
    }

    @Override
    public InetSocketAddress localAddress() {
        InetSocketAddress address = localAddress;
        if (address == null) {
            throw new IllegalStateException("not bound");
        }
        return address;
    }

    /** {@inheritDoc} If several addresses have different free ports, returns the port of the first address. */
    @Override
    public OptionalInt udpPort() {
        return udpPort;
    }

    @Override
    protected CompletableFuture<Void> unbind() {
        closed = true;
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        closing.add(CompletableFuture.runAsync(() -> network.onUnbound(this), loop()));
        for (SctpListener listener : bound) {
            closing.add(listener.close());
        }
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
