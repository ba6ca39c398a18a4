// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.EarlyBudget;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpConnectException;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.verbs.AssociationAttributes;
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
 * The SCTP endpoints of a device, one per local address but for those that belong together, and the associations that it began. Connections to the same
 * destination share an association as long as it has a free stream. Everything happens on one event loop.
 */
final class SctpNetwork {

    /** Who wants a session on an association to a destination. On the event loop. */
    interface Seeker {

        void onAssociation(SoftwareAssociation association);

        void onUnreachable(Throwable cause);
    }

    /** Where peers begin associations: a port of an endpoint. */
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

        /** An attempt that nobody waits for any more is not to hold anything. */
        void giveUp(Seeker seeker) {
            if (seekers.remove(seeker) && seekers.isEmpty() && attempt != null) {
                attempt.cancel(false);
            }
        }

        private void connect() {
            connecting = true;
            attempt = null;
            // Whoever seeks has a time-out of its own, which is to be the first that is over.
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
                // They came when the attempt was under way, and have longer patience than it had, which is over.
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

        /** Whether the time was over, or nobody waited any more. */
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
                // Nobody wants it any more.
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
    private final AdaptationSettings settings;
    private final EarlyBudget earlyBudget;
    private final Map<SctpDestination, Pool> pools = new HashMap<>();
    private final Map<List<InetAddress>, CompletableFuture<SctpEndpoint>> endpoints = new ConcurrentHashMap<>();
    /** Who takes the sessions of associations that peers began, whoever listened when they did. */
    private final Map<Door, SoftwareSctpListener> listeners = new HashMap<>();
    /** By number, in the order of their begin. */
    private final Map<Long, SoftwareAssociation> established = new LinkedHashMap<>();

    private @Nullable SctpStack loaded;
    private long numbers;

    /**
     * @param stack loaded when it is first used
     * @param together local addresses that make up one endpoint, or none
     */
    SctpNetwork(SoftwareDevice device, Supplier<SctpStack> stack, List<InetAddress> together, EventLoop loop) {
        this.device = device;
        this.stack = stack;
        this.together = together;
        this.loop = loop;
        this.settings = device.settings().adaptation();
        this.earlyBudget = EarlyBudget.ofDevice(settings);
    }

    EventLoop loop() {
        return loop;
    }

    /**
     * Finds an association with a free stream, or begins one. On the event loop.
     *
     * @return to be run, on the event loop too, when the seeker wants none any more
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
        // Connecting a datagram socket sends nothing: it asks the routing table for the address of this side.
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(peer, destination.port());
            return endpoint(probe.getLocalAddress());
        } catch (IOException | RuntimeException e) {
            return CompletableFuture.failedFuture(new IOException("no route to " + peer + ": " + e.getMessage(), e));
        } catch (Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Local addresses that make up one endpoint; empty where each is one of its own. */
    List<InetAddress> together() {
        return together;
    }

    /** The endpoint that a local address belongs to, opened when it is first wanted. Any thread. */
    CompletableFuture<SctpEndpoint> endpoint(InetAddress local) {
        List<InetAddress> addresses = together.contains(local) ? together : List.of(local);
        CompletableFuture<SctpEndpoint> known = endpoints.get(addresses);
        if (known != null && known.isCompletedExceptionally()) {
            // What was in the way may be gone by now.
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
                            device.settings().sctp());
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** A number that no association had yet. On the event loop. */
    long nextNumber() {
        return ++numbers;
    }

    AdaptationSettings settings() {
        return settings;
    }

    /** What early chunks of all associations may hold. */
    EarlyBudget earlyBudget() {
        return earlyBudget;
    }

    /** A listener is bound. On the event loop. */
    void onListening(Door door, SoftwareSctpListener listener) {
        listeners.put(door, listener);
    }

    /** A listener takes nothing any more. On the event loop. */
    void onUnbound(SoftwareSctpListener listener) {
        listeners.values().removeIf(known -> known == listener);
    }

    /** Who listens there now. On the event loop. */
    @Nullable
    SoftwareSctpListener listenerAt(Door door) {
        return listeners.get(door);
    }

    /** An association is up, whoever began it. On the event loop. */
    void onEstablished(SoftwareAssociation association) {
        established.put(association.number(), association);
    }

    /** An association has ended, or did not come up. On the event loop. */
    void onClosed(SoftwareAssociation association) {
        if (established.remove(association.number()) != null) {
            device.events().onAssociationClosed(association.transport().retransmittedChunks());
        }
    }

    /** What is up, and how it does. Any thread. */
    CompletableFuture<List<AssociationAttributes>> associations() {
        return CompletableFuture.supplyAsync(
                () -> established.values().stream()
                        .map(SoftwareAssociation::attributes)
                        .toList(),
                loop);
    }

    /** Why there is no SCTP to use, and what to do, for people; empty where there is one. */
    Optional<String> absence() {
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
    CompletableFuture<Void> close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (CompletableFuture<SctpEndpoint> endpoint : endpoints.values()) {
            closing.add(endpoint.thenCompose(SctpEndpoint::close).exceptionally(failure -> null));
        }
        endpoints.clear();
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
