// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.AtomicUnit;
import io.sidewarp.engine.memory.MemoryManager;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.memory.StagTable;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.SystemErrors;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** A device that the engine implements. */
public final class SoftwareDevice implements Device {

    private static final int MAX_PRIVATE_DATA = 512;
    private static final long CLOSE_SECONDS = 10;
    private static final String NO_SCTP = "this provider was built without SCTP; add SCTP to its builder, or use TCP";

    private final SoftwareSettings settings;
    private final EngineLoops loops;
    private final SoftwareEvents events;
    private final StagTable stags;
    private final MemoryManager memory;
    private final AtomicUnit atomics = new AtomicUnit();
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicLong domains = new AtomicLong();
    private final Set<SoftwareQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private final Set<SoftwareListener> listeners = ConcurrentHashMap.newKeySet();
    private final @Nullable SoftwareLowerLayer sctp;
    private final TlsIdentity identity;
    private final PlainPeers plainPeers = new PlainPeers(System::nanoTime);
    /** Makes the RDMAP stream of a connection when RDMA mode begins. Tests plug in a maker that fails. */
    private volatile BiFunction<LowerLayer, StreamSettings, RdmapStream> streamMaker = RdmapStream::new;

    SoftwareDevice(
            SoftwareSettings settings,
            EngineLoops loops,
            SoftwareEvents events,
            SoftwareLowerLayer.@Nullable Factory sctpFactory,
            TlsIdentity identity) {
        this.settings = settings;
        this.loops = loops;
        this.events = new GuardedEvents(events);
        this.identity = identity;
        this.stags = new StagTable(settings.maxRegions());
        this.memory = new MemoryManager(stags, loops);
        this.sctp = sctpFactory == null ? null : sctpFactory.open(this, loops.choose());
        loops.setFaultHandler(this::onFault);
        loops.setLimitHandler(this.events::onPeerLimit);
    }

    public SoftwareSettings settings() {
        return settings;
    }

    public EngineLoops loops() {
        return loops;
    }

    /** Returns the receiver of events; it contains exceptions of the application. */
    public SoftwareEvents events() {
        return events;
    }

    /** Returns SCTP, or null if the provider was built without it. */
    @Nullable
    SoftwareLowerLayer sctp() {
        return sctp;
    }

    /** Returns this side's credentials for TLS, or null while it has none. */
    @Nullable
    TlsCredentials credentials() {
        return identity.current().orElse(null);
    }

    /** Returns the peers that were found to speak no TLS. */
    PlainPeers plainPeers() {
        return plainPeers;
    }

    /** Returns why the policy is not possible on this device, or null. */
    @Nullable
    ConnectionFailedException refusal(Llp llp, SecurityPolicy policy) {
        if (policy.security() != TlsUse.REQUIRED) {
            return null;
        }
        String problem = null;
        if (llp == Llp.SCTP) {
            problem = "security is `required`, and connections over SCTP have no TLS; use TCP, or `plain` with IPsec";
        } else if (credentials() == null) {
            problem = "security is `required`, and this device has no identity; " + identity.reason()
                    + ", or use `plain`";
        }
        return problem == null
                ? null
                : new ConnectionFailedException(ConnectionFailedException.Kind.INVALID_PARAMETERS, problem);
    }

    StagTable stags() {
        return stags;
    }

    BiFunction<LowerLayer, StreamSettings, RdmapStream> streamMaker() {
        return streamMaker;
    }

    void setStreamMaker(BiFunction<LowerLayer, StreamSettings, RdmapStream> maker) {
        streamMaker = maker;
    }

    AtomicUnit atomics() {
        return atomics;
    }

    /** Handles a fault. If it is a late fault of shared memory, finds the region. */
    private void onFault(Throwable fault) {
        if (fault instanceof InternalError) {
            memory.onLateFault();
        }
        events.onFault(fault);
    }

    @Override
    public Optional<String> absence(Llp llp) {
        if (llp == Llp.TCP) {
            return Optional.empty();
        }
        return sctp == null ? Optional.of(NO_SCTP) : sctp.absence();
    }

    @Override
    public boolean racesAddresses(Llp llp) {
        return llp == Llp.TCP;
    }

    @Override
    public DeviceAttributes attributes() {
        return new DeviceAttributes(
                SoftwareProvider.NAME,
                absence(Llp.SCTP).isEmpty() ? Set.of(Llp.values()) : Set.of(Llp.TCP),
                Wr.MAX_SGE,
                settings.maxSendQueue(),
                settings.maxReceiveQueue(),
                settings.maxIrd(),
                settings.maxOrd(),
                MAX_PRIVATE_DATA,
                settings.extensions());
    }

    @Override
    public Pd allocateProtectionDomain() {
        return new Pd(domains.incrementAndGet());
    }

    @Override
    public void deallocateProtectionDomain(Pd protectionDomain) {
        protectionDomain.deallocate();
    }

    @Override
    public MemoryRegion registerMemory(
            Pd protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair) {
        return memory.register(protectionDomain, backing, attributes, queuePair);
    }

    @Override
    public CompletableFuture<Void> deregisterMemory(MemoryRegion region) {
        return memory.deregister(region);
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity) {
        return new SoftwareCompletionQueue(capacity, task -> loops.choose().execute(task));
    }

    @Override
    public Srq createSharedReceiveQueue(Pd protectionDomain, int capacity) {
        if (capacity > settings.maxReceiveQueue()) {
            throw new IllegalArgumentException(
                    "a shared receive queue has at most " + settings.maxReceiveQueue() + " entries");
        }
        return new SoftwareSharedReceiveQueue(protectionDomain, capacity);
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes) {
        if (attributes.sendQueue() > settings.maxSendQueue()
                || attributes.receiveQueue() > settings.maxReceiveQueue()) {
            throw new IllegalArgumentException("a queue pair has at most " + settings.maxSendQueue() + " send and "
                    + settings.maxReceiveQueue() + " receive entries");
        }
        if (attributes.sharedReceives() instanceof SoftwareSharedReceiveQueue shared
                && shared.domain() != attributes.protectionDomain()) {
            throw new IllegalArgumentException("the shared receive queue is of another protection domain");
        }
        SoftwareQueuePair queuePair =
                new SoftwareQueuePair(this, numbers.incrementAndGet(), attributes, loops.choose());
        queuePairs.add(queuePair);
        return queuePair;
    }

    @Override
    public CompletableFuture<VerbsListener> listen(
            InetSocketAddress address, ListenAttributes attributes, ConnectionRequestHandler handler) {
        ConnectionFailedException refusal = refusal(attributes.llp(), attributes.security());
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        SoftwareListener listener;
        if (attributes.llp() == Llp.TCP) {
            listener = new SoftwareTcpListener(this, loops.choose(), attributes, handler);
        } else if (sctp != null) {
            listener = sctp.listener(attributes, handler);
        } else {
            return CompletableFuture.failedFuture(withoutSctp());
        }
        listeners.add(listener);
        return listener.listen(address).exceptionallyCompose(failure -> {
            listeners.remove(listener);
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            return CompletableFuture.failedFuture(new ConnectionFailedException(
                    ConnectionFailedException.Kind.UNREACHABLE,
                    "cannot listen at " + address + ": " + SystemErrors.text(cause)
                            + "; choose an address of this host and a free port",
                    cause));
        });
    }

    /** Returns the failure of a connection or listener over SCTP without SCTP. */
    static ConnectionFailedException withoutSctp() {
        return new ConnectionFailedException(ConnectionFailedException.Kind.INVALID_PARAMETERS, NO_SCTP);
    }

    @Override
    public CompletableFuture<List<AssociationAttributes>> associations() {
        return sctp == null ? CompletableFuture.completedFuture(List.of()) : sctp.associations();
    }

    void onClosed(SoftwareQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    void onClosed(SoftwareListener listener) {
        listeners.remove(listener);
    }

    @Override
    public void close() {
        List<CompletableFuture<Void>> pending = new ArrayList<>();
        for (SoftwareListener listener : new ArrayList<>(listeners)) {
            pending.add(listener.close());
        }
        if (sctp != null) {
            pending.add(sctp.close());
        }
        for (SoftwareQueuePair queuePair : new ArrayList<>(queuePairs)) {
            pending.add(queuePair.abort());
        }
        for (MemoryRegion region : memory.regions()) {
            pending.add(memory.deregister(region));
        }
        if (!loops.inLoop()) {
            CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new))
                    .orTimeout(CLOSE_SECONDS, TimeUnit.SECONDS)
                    .handle((ignored, failure) -> null)
                    .join();
        }
    }
}
