// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.DeviceRegions;
import io.sidewarp.engine.memory.MappedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.memory.RegionException;
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
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A device of the kernel, behind the interface of verbs. */
final class KernelDevice implements Device {

    private static final Logger LOG = LoggerFactory.getLogger(KernelDevice.class);

    /**
     * Maximum size of private data, in bytes. Connection parameters have 8 bits for the length. MPA takes 4 bytes for
     * IRD and ORD (RFC 6581 section 6).
     */
    static final int MAX_PRIVATE_DATA = 251;

    /** Maximum IRD and ORD: connection parameters have 8 bits for each. */
    private static final int MAX_DEPTH = 255;

    private static final long CLOSE_SECONDS = 10;

    /**
     * Maximum number of simultaneous connection attempts. Some devices block a thread until TCP has connected or has
     * given up.
     */
    private static final int CONNECT_THREADS = 256;

    private final KernelLimits limits;
    private final String name;
    private final long context;
    private final Runnable onClosed;
    private final DataPath dataPath;
    private final DeviceLimits most;
    private final CmChannel channel = new CmChannel();
    private final DeviceEvents events;
    private final VerbsLoop loop;
    private final ThreadPoolExecutor blocking = new ThreadPoolExecutor(
            CONNECT_THREADS,
            CONNECT_THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name("sidewarp-verbs-connect-", 0).daemon().factory());
    private final AtomicLong numbers = new AtomicLong();
    private final DeviceRegions regions = new DeviceRegions();
    private final Map<Pd, KernelDomain> domains = new ConcurrentHashMap<>();
    private final Map<Long, KernelCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Long, KernelSharedReceiveQueue> sharedReceives = new ConcurrentHashMap<>();
    private final Map<Long, KernelQueuePair> queuePairs = new ConcurrentHashMap<>();
    private final CompletionRoutes routes = new CompletionRoutes();
    private final Set<KernelListener> listeners = ConcurrentHashMap.newKeySet();

    /** @param onClosed called after everything of the device is released */
    KernelDevice(KernelLimits limits, String name, long context, Runnable onClosed) {
        this.onClosed = onClosed;
        this.limits = limits;
        this.name = name;
        this.context = context;
        this.dataPath = new DataPath(context);
        this.most = DeviceLimits.query(context);
        this.events = new DeviceEvents(this, context);
        this.loop = new VerbsLoop("sidewarp-verbs-" + name, channel.events(), events.completions(), events.errors());
        blocking.allowCoreThreadTimeOut(true);
        loop.start();
    }

    String name() {
        return name;
    }

    long context() {
        return context;
    }

    DataPath dataPath() {
        return dataPath;
    }

    VerbsLoop loop() {
        return loop;
    }

    CmChannel channel() {
        return channel;
    }

    /** Runs, on another thread, a task that may take as long as the network needs. */
    void runBlocking(Runnable task) {
        blocking.execute(task);
    }

    @Override
    public DeviceAttributes attributes() {
        return new DeviceAttributes(
                KernelProvider.NAME,
                Set.of(Llp.TCP),
                Math.min(Wr.MAX_SGE, most.sge()),
                // A request with a flush takes two elements of the device's queue.
                Math.min(limits.sendQueue(), most.queue() / 2),
                Math.min(limits.receiveQueue(), most.queue()),
                Math.min(Math.min(limits.ird(), MAX_DEPTH), most.ird()),
                Math.min(Math.min(limits.ord(), MAX_DEPTH), most.ord()),
                MAX_PRIVATE_DATA,
                false);
    }

    @Override
    public Optional<String> absence(Llp llp) {
        return llp == Llp.SCTP
                ? Optional.of("devices of the kernel speak iWARP over TCP only; use TCP, or a sidecar with the provider"
                        + " software")
                : Optional.empty();
    }

    // Memory.

    @Override
    public Pd allocateProtectionDomain() {
        long pd = VerbsCalls.allocPd(context);
        KernelErrors.check("cannot allocate a protection domain", pd);
        Pd domain = new Pd(numbers.incrementAndGet());
        domains.put(domain, KernelDomain.of(domain, pd));
        return domain;
    }

    @Override
    public void deallocateProtectionDomain(Pd protectionDomain) {
        protectionDomain.deallocate();
        KernelDomain domain = domains.remove(protectionDomain);
        if (domain != null) {
            domain.lifetime().close();
        }
    }

    private KernelDomain domain(Pd protectionDomain) {
        KernelDomain domain = domains.get(protectionDomain);
        if (domain == null) {
            throw new IllegalStateException(protectionDomain + " is deallocated, or of another device");
        }
        return domain;
    }

    @Override
    public MemoryRegion registerMemory(
            Pd protectionDomain, RegionBacking backing, RegionAttributes attributes, long queuePair) {
        MappedBacking mapped = DeviceRegions.checkMapped(backing);
        Set<AccessRight> access = attributes.access();
        if (queuePair != 0 || access.contains(AccessRight.REMOTE_INVALIDATE)) {
            throw new IllegalArgumentException(
                    "a device of the kernel has no regions of a single connection, and none that a peer may"
                            + " invalidate; register the region for the protection domain, without this right");
        }
        if (!attributes.peer().isEmpty()) {
            throw new IllegalArgumentException(
                    "devices of the kernel speak no TLS, so they know the identity of no peer;"
                            + " register the region without peer_identity, or use a sidecar with the provider software");
        }
        if (access.contains(AccessRight.REMOTE_ATOMIC)) {
            throw new IllegalArgumentException("this device has no atomic operations; drop the right to them");
        }
        if (attributes.baseTaggedOffset() != 0) {
            throw new IllegalArgumentException(
                    "this device chooses its tagged offsets itself: ask for base tagged offset 0,"
                            + " and use the offset that the region then has");
        }
        KernelDomain domain = domain(protectionDomain);
        return regions.register(
                protectionDomain, mapped, access, memory -> KernelRegistration.of(domain, memory, access));
    }

    @Override
    public CompletableFuture<Void> deregisterMemory(MemoryRegion region) {
        return regions.deregister(region);
    }

    // Queues.

    @Override
    public CompletionQueue createCompletionQueue(int capacity) {
        if (capacity < 1 || capacity > most.completions()) {
            throw new IllegalArgumentException(
                    "a completion queue of this device has 1 to " + most.completions() + " entries, not " + capacity);
        }
        long cookie = numbers.incrementAndGet();
        long cq = VerbsCalls.createCq(context, capacity, cookie, events.channel());
        KernelErrors.check("cannot create a completion queue of " + capacity + " entries", cq);
        KernelCompletionQueue queue = new KernelCompletionQueue(this, capacity, cookie, cq);
        completionQueues.put(cookie, queue);
        return queue;
    }

    @Override
    public Srq createSharedReceiveQueue(Pd protectionDomain, int capacity) {
        int limit = Math.min(limits.receiveQueue(), most.sharedReceives());
        if (capacity < 1 || capacity > limit) {
            throw new IllegalArgumentException("a shared receive queue of this device has 1 to " + limit + " entries");
        }
        KernelDomain domain = domain(protectionDomain);
        int sge = Math.min(Wr.MAX_SGE, most.sharedSge());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(VerbsLayout.SRQ_INIT_ATTR_LENGTH, Long.BYTES);
            wanted.set(INT, VerbsLayout.SRQ_INIT_ATTR + VerbsLayout.SRQ_MAX_WR, capacity);
            wanted.set(INT, VerbsLayout.SRQ_INIT_ATTR + VerbsLayout.SRQ_MAX_SGE, sge);
            long srq = VerbsCalls.createSrq(domain.handle(), wanted);
            KernelErrors.check("cannot create a shared receive queue of " + capacity + " entries", srq);
            KernelSharedReceiveQueue queue =
                    new KernelSharedReceiveQueue(this, domain, numbers.incrementAndGet(), capacity, sge, srq);
            sharedReceives.put(queue.number(), queue);
            routes.addShared(queue.number(), queue.receives());
            return queue;
        }
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes wanted) {
        DeviceAttributes own = attributes();
        if (wanted.sendQueue() > own.maxSendQueue() || wanted.receiveQueue() > own.maxReceiveQueue()) {
            throw new IllegalArgumentException("a queue pair has at most " + own.maxSendQueue() + " send and "
                    + own.maxReceiveQueue() + " receive entries");
        }
        if (wanted.sharedReceives() instanceof KernelSharedReceiveQueue shared
                && shared.domain() != wanted.protectionDomain()) {
            throw new IllegalArgumentException("the shared receive queue is of another protection domain");
        }
        KernelDomain domain = domain(wanted.protectionDomain());
        KernelQueuePair queuePair = new KernelQueuePair(this, domain, numbers.incrementAndGet(), wanted, own.maxSge());
        queuePairs.put(queuePair.number(), queuePair);
        routes.add(queuePair, queuePair.qpNumber());
        return queuePair;
    }

    CompletionRoutes routes() {
        return routes;
    }

    // Connections.

    @Override
    public CompletableFuture<VerbsListener> listen(
            InetSocketAddress address, ListenAttributes attributes, ConnectionRequestHandler handler) {
        ConnectionFailedException refusal = KernelParameters.problem(attributes.security());
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        KernelListener listener = new KernelListener(this, attributes, handler);
        listeners.add(listener);
        return listener.listen(address);
    }

    @Override
    public CompletableFuture<List<AssociationAttributes>> associations() {
        return CompletableFuture.completedFuture(List.of());
    }

    // Events of the device, on the loop.

    void onCompletions(long cookie) {
        KernelCompletionQueue queue = completionQueues.get(cookie);
        if (queue != null) {
            queue.onEvent();
        }
    }

    void onQueuePairError(long qp, String message) {
        queuePairs.values().stream().filter(pair -> pair.handle() == qp).forEach(pair -> pair.onError(message));
    }

    void onCompletionQueueError(long cq) {
        for (KernelCompletionQueue queue : completionQueues.values()) {
            if (queue.handle() == cq) {
                queue.onOverrun();
                queuePairs.values().stream()
                        .filter(pair -> pair.uses(queue))
                        .forEach(pair -> pair.onError("its completion queue had no room for a completion"));
            }
        }
    }

    void onSharedReceiveLimit(long srq) {
        sharedReceives.values().stream()
                .filter(queue -> queue.handle() == srq)
                .forEach(KernelSharedReceiveQueue::onLimit);
    }

    void onDeviceError() {
        LOG.error("the RDMA device {} failed; its connections end", name);
        queuePairs.values().forEach(pair -> pair.onError("the RDMA device failed"));
    }

    void onClosed(KernelCompletionQueue queue, long cookie) {
        completionQueues.remove(cookie, queue);
    }

    void onClosed(KernelSharedReceiveQueue queue) {
        sharedReceives.remove(queue.number());
        routes.removeShared(queue.number());
    }

    void onClosed(KernelQueuePair queuePair) {
        queuePairs.remove(queuePair.number());
        routes.end(queuePair);
    }

    void onClosed(KernelListener listener) {
        listeners.remove(listener);
    }

    @Override
    public void close() {
        List<CompletableFuture<Void>> pending = new ArrayList<>();
        listeners.forEach(listener -> pending.add(listener.close()));
        queuePairs.values().forEach(pair -> pending.add(pair.abort()));
        await(pending);
        await(regions.regions().stream().map(regions::deregister).toList());
        blocking.shutdown();
        loop.end();
        Stream.of(
                        sharedReceives.values().stream().map(KernelSharedReceiveQueue::lifetime),
                        completionQueues.values().stream().map(KernelCompletionQueue::lifetime),
                        domains.values().stream().map(KernelDomain::lifetime))
                .flatMap(lifetimes -> lifetimes)
                .forEach(Lifetime::close);
        events.close();
        channel.close();
        onClosed.run();
    }

    private void await(List<CompletableFuture<Void>> pending) {
        if (!loop.inLoop()) {
            CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new))
                    .orTimeout(CLOSE_SECONDS, TimeUnit.SECONDS)
                    .handle((ignored, failure) -> null)
                    .join();
        }
    }

    /** Limits that the device reports. */
    private record DeviceLimits(
            int queue, int sge, int completions, int ird, int ord, int sharedReceives, int sharedSge) {

        static DeviceLimits query(long context) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment told = arena.allocate(VerbsLayout.DEVICE_ATTR_LENGTH, Long.BYTES);
                KernelErrors.check("cannot query the limits of the device", VerbsCalls.queryDevice(context, told));
                return new DeviceLimits(
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_QP_WR),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_SGE),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_CQE),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_QP_RD_ATOM),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_QP_INIT_RD_ATOM),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_SRQ_WR),
                        told.get(INT, VerbsLayout.DEVICE_ATTR_MAX_SRQ_SGE));
            }
        }
    }

    /** Memory that the device has registered. */
    private record KernelRegistration(KernelDomain domain, long mr, long address)
            implements DeviceRegions.Registration {

        static KernelRegistration of(KernelDomain domain, MemorySegment memory, Set<AccessRight> access) {
            long mr = VerbsCalls.regMr(domain.handle(), memory.address(), memory.byteSize(), bits(access));
            if (mr < 0) {
                throw new RegionException(
                        RegionException.Reason.LIMIT,
                        "the device did not register " + memory.byteSize() + " bytes: "
                                + KernelErrors.describe((int) mr)
                                + "; the device pins memory, so raise the container's limit of locked memory,"
                                + " or register less");
            }
            domain.lifetime().retain();
            return new KernelRegistration(domain, mr, memory.address());
        }

        /** Converts rights to flags. Verbs allow remote write access only together with local write access. */
        private static int bits(Set<AccessRight> access) {
            int bits = 0;
            if (access.contains(AccessRight.LOCAL_WRITE)) {
                bits |= VerbsLayout.ACCESS_LOCAL_WRITE;
            }
            if (access.contains(AccessRight.REMOTE_WRITE)) {
                bits |= VerbsLayout.ACCESS_REMOTE_WRITE | VerbsLayout.ACCESS_LOCAL_WRITE;
            }
            if (access.contains(AccessRight.REMOTE_READ)) {
                bits |= VerbsLayout.ACCESS_REMOTE_READ;
            }
            return bits;
        }

        @Override
        public int stag() {
            return Native.getInt(mr + VerbsLayout.MR_RKEY);
        }

        @Override
        public long baseTaggedOffset() {
            return address;
        }

        @Override
        public void revoke() {
            KernelErrors.check("cannot deregister a region", VerbsCalls.deregMr(mr));
            domain.lifetime().release();
        }
    }
}
