// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.EarlyBudget;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpConnectException;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.provider.software.OutgoingSetup;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareListener;
import io.sidewarp.provider.software.SoftwareLowerLayer;
import io.sidewarp.provider.software.SoftwareQueuePair;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The SCTP endpoints of a device, and the associations that it began. Each local address has its own endpoint, except
 * addresses that form one endpoint together. Connections to the same destination share an association as long as it has
 * a free stream. Everything happens on one event loop.
 */
final class SctpNetwork implements SoftwareLowerLayer {

    /** Seeks a session on an association to a destination. Runs on the event loop. */
    interface Seeker {

        void onAssociation(SoftwareAssociation association);

        void onUnreachable(Throwable cause);
    }

    /** A port of an endpoint, where peers begin associations. */
    record Door(SctpEndpoint endpoint, int port) {}

    /** Associations to one destination. */
    private final class Pool implements SoftwareAssociation.Keeper {

        private final SctpDestination destination;
        private final Set<SoftwareAssociation> associations = new LinkedHashSet<>();
        private final LinkedHashSet<Seeker> seekers = new LinkedHashSet<>();
        private @Nullable CompletableFuture<SctpAssociation> attempt;
        private boolean connecting;
        private Duration timeout = Duration.ZERO;

        Pool(SctpDestination destination) {
            this.destination = destination;
        }

        void seek(Seeker seeker, Duration patience) {
            timeout = patience;
            for (SoftwareAssociation association : associations) {
                if (association.hasRoom()) {
                    seeker.onAssociation(association);
                    return;
                }
            }
            seekers.add(seeker);
            if (!connecting) {
                connect();
            }
        }

        /** Removes a seeker. An attempt without seekers is cancelled, so that it holds no resources. */
        void giveUp(Seeker seeker) {
            if (seekers.remove(seeker) && seekers.isEmpty() && attempt != null) {
                attempt.cancel(false);
            }
        }

        private void connect() {
            connecting = true;
            attempt = null;
            // Lets the time-out of each seeker expire before the one of the attempt.
            Duration patience = timeout.plus(settings.lingerTimeout());
            endpointTowards(destination)
                    .thenComposeAsync(endpoint -> begin(endpoint, patience), loop)
                    .whenCompleteAsync(
                            (ignored, failure) -> {
                                if (failure != null) {
                                    fail(failure);
                                }
                            },
                            loop);
        }

        private CompletableFuture<SctpAssociation> begin(SctpEndpoint endpoint, Duration patience) {
            if (seekers.isEmpty()) {
                return CompletableFuture.failedFuture(new CancellationException("nobody waits for it"));
            }
            CompletableFuture<SctpAssociation> begun = endpoint.connect(destination, patience, transport -> {
                SoftwareAssociation association = new SoftwareAssociation(SctpNetwork.this, transport, null, this);
                associations.add(association);
                return association.sessions();
            });
            attempt = begun;
            return begun;
        }

        private void fail(Throwable failure) {
            connecting = false;
            if (!seekers.isEmpty() && saysNothingOfThePeer(failure)) {
                // These seekers came during the attempt, and their time-outs are not over. Tries again for them.
                connect();
                return;
            }
            List<Seeker> disappointed = new ArrayList<>(seekers);
            seekers.clear();
            for (Seeker seeker : disappointed) {
                seeker.onUnreachable(failure);
            }
            forgetIfEmpty();
        }

        /** Returns whether the time was over, or nobody waited any more. */
        private static boolean saysNothingOfThePeer(Throwable failure) {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            return cause instanceof CancellationException
                    || cause instanceof SctpConnectException failed
                            && failed.reason() == SctpConnectException.Reason.NO_ANSWER;
        }

        @Override
        public void onEstablished(SoftwareAssociation association) {
            connecting = false;
            while (association.hasRoom() && !seekers.isEmpty()) {
                seekers.removeFirst().onAssociation(association);
            }
            if (!seekers.isEmpty()) {
                connect();
            }
            if (association.sessions().occupiedStreams() == 0) {
                // No seeker wants the association any more.
                association.onIdle();
            }
        }

        @Override
        public void onClosed(SoftwareAssociation association, String cause) {
            associations.remove(association);
            if (connecting && association.sessions().streams() == 0) {
                fail(new IOException(cause));
            }
            forgetIfEmpty();
        }

        private void forgetIfEmpty() {
            if (associations.isEmpty() && seekers.isEmpty() && !connecting) {
                pools.remove(destination, this);
            }
        }
    }

    private final SoftwareDevice device;
    private final Supplier<SctpStack> stack;
    private final List<InetAddress> together;
    private final EventLoop loop;
    private final SctpSettings sctpSettings;
    private final AdaptationSettings settings;
    private final EarlyBudget earlyBudget;
    private final Map<SctpDestination, Pool> pools = new HashMap<>();
    private final Map<List<InetAddress>, CompletableFuture<SctpEndpoint>> endpoints = new ConcurrentHashMap<>();
    /**
     * Current listeners, which take the sessions that peers begin. The association may come from an earlier listener.
     */
    private final Map<Door, SoftwareSctpListener> listeners = new HashMap<>();
    /** Associations by number, in the order in which they were established. */
    private final Map<Long, SoftwareAssociation> established = new LinkedHashMap<>();

    private @Nullable SctpStack loaded;
    private long numbers;

    SctpNetwork(SoftwareDevice device, SoftwareSctp options, EventLoop loop) {
        this.device = device;
        this.stack = options.stack();
        this.together = options.addresses();
        this.loop = loop;
        this.sctpSettings = options.settings();
        this.settings = options.adaptation();
        this.earlyBudget = EarlyBudget.ofDevice(settings);
    }

    @Override
    public SoftwareListener listener(ListenAttributes attributes, ConnectionRequestHandler handler) {
        return new SoftwareSctpListener(device, this, attributes, handler);
    }

    @Override
    public OutgoingSetup connect(
            SoftwareQueuePair queuePair, List<InetSocketAddress> remotes, ConnectionParameters parameters) {
        return new OutgoingSctpSetup(device, this, queuePair, remotes, parameters);
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    /**
     * Finds an association with a free stream, or begins one. Runs on the event loop.
     *
     * @return withdraws the seeker when it is run, on the event loop
     */
    Runnable seek(InetSocketAddress remote, int udpPort, Duration timeout, Seeker seeker) {
        SctpDestination destination;
        try {
            destination = new SctpDestination(remote.getAddress(), remote.getPort(), stack().isInUdp() ? udpPort : 0);
        } catch (RuntimeException | Error e) {
            seeker.onUnreachable(e);
            return () -> {};
        }
        Pool pool = pools.computeIfAbsent(destination, Pool::new);
        pool.seek(seeker, timeout);
        return () -> pool.giveUp(seeker);
    }

    private CompletableFuture<SctpEndpoint> endpointTowards(SctpDestination destination) {
        if (!together.isEmpty()) {
            return endpoint(together.getFirst());
        }
        InetAddress peer = destination.addresses().getFirst();
        // Connecting a datagram socket sends nothing. The routing table chooses the address of this side.
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(peer, destination.port());
            return endpoint(probe.getLocalAddress());
        } catch (IOException | RuntimeException e) {
            return CompletableFuture.failedFuture(new IOException("no route to " + peer + ": " + e.getMessage(), e));
        } catch (Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns the local addresses that form one endpoint. Empty if each address has its own endpoint. */
    List<InetAddress> together() {
        return together;
    }

    /** Returns the endpoint of a local address, and opens it at the first use. Any thread. */
    CompletableFuture<SctpEndpoint> endpoint(InetAddress local) {
        List<InetAddress> addresses = together.contains(local) ? together : List.of(local);
        CompletableFuture<SctpEndpoint> known = endpoints.get(addresses);
        if (known != null && known.isCompletedExceptionally()) {
            // Tries again, because the cause of the failure may be gone.
            endpoints.remove(addresses, known);
        }
        return endpoints.computeIfAbsent(addresses, this::open);
    }

    private CompletableFuture<SctpEndpoint> open(List<InetAddress> local) {
        try {
            return stack().open(
                            device.loops(),
                            loop,
                            local,
                            OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION),
                            sctpSettings);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns a number that no association has had. Runs on the event loop. */
    long nextNumber() {
        return ++numbers;
    }

    AdaptationSettings settings() {
        return settings;
    }

    /** Returns the limit of what early chunks of all associations may hold. */
    EarlyBudget earlyBudget() {
        return earlyBudget;
    }

    /** Adds a listener that is bound. Runs on the event loop. */
    void onListening(Door door, SoftwareSctpListener listener) {
        listeners.put(door, listener);
    }

    /** Removes a listener that takes no more sessions. Runs on the event loop. */
    void onUnbound(SoftwareSctpListener listener) {
        listeners.values().removeIf(known -> known == listener);
    }

    /** Returns the current listener at a door, or null. Runs on the event loop. */
    @Nullable
    SoftwareSctpListener listenerAt(Door door) {
        return listeners.get(door);
    }

    /** Adds an association that is up, whichever side began it. Runs on the event loop. */
    void onEstablished(SoftwareAssociation association) {
        established.put(association.number(), association);
    }

    /** Removes an association that has ended, or did not come up. Runs on the event loop. */
    void onClosed(SoftwareAssociation association) {
        if (established.remove(association.number()) != null) {
            device.events().onAssociationClosed(association.transport().retransmittedChunks());
        }
    }

    @Override
    public CompletableFuture<List<AssociationAttributes>> associations() {
        return CompletableFuture.supplyAsync(
                () -> established.values().stream()
                        .map(SoftwareAssociation::attributes)
                        .toList(),
                loop);
    }

    @Override
    public Optional<String> absence() {
        try {
            stack();
            return Optional.empty();
        } catch (SctpUnavailableException e) {
            return Optional.of(Objects.requireNonNull(e.getMessage()));
        }
    }

    private synchronized SctpStack stack() {
        SctpStack known = loaded;
        if (known == null) {
            known = stack.get();
            loaded = known;
        }
        return known;
    }

    /** Aborts all associations, each with a single message (RFC 5043 section 11.3), and closes the endpoints. */
    @Override
    public CompletableFuture<Void> close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (CompletableFuture<SctpEndpoint> endpoint : endpoints.values()) {
            closing.add(endpoint.thenCompose(SctpEndpoint::close).exceptionally(failure -> null));
        }
        endpoints.clear();
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
