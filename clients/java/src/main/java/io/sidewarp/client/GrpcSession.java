// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegionFault;
import io.sidewarp.v1.SessionOpened;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A session over the OpenSession call. The end of that call fails everything outstanding. */
final class GrpcSession implements Session {

    private static final System.Logger LOG = System.getLogger(GrpcSession.class.getName());

    /**
     * Time for connections to close gracefully, equal to the sidecar's default. Half of a call's time limit is the
     * maximum.
     */
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(10);

    private final GrpcClient client;
    private final String name;
    private final Consumer<GrpcSession> ended;
    private final CompletableFuture<SessionOpened> opened = new CompletableFuture<>();
    private final CompletableFuture<SessionLimits> limits =
            opened.thenApply(session -> Descriptions.limits(session.getLimits()));
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final List<SessionListener> listeners = new CopyOnWriteArrayList<>();
    private final ExecutorService events = Executors.newSingleThreadExecutor(
            Thread.ofVirtual().name("sidewarp-session-events").factory());
    private final Regions regions;

    /** Calls, queues, listeners and watches that fail when the session ends. */
    private final Set<Consumer<SidewarpException>> outstanding = ConcurrentHashMap.newKeySet();

    /** Queues that are told of closed connections. */
    private final Set<SessionQueue> queues = ConcurrentHashMap.newKeySet();

    private final SessionTraffic traffic;
    private final SessionConnections connections;

    private volatile boolean closing;
    private volatile @Nullable SidewarpException end;
    private volatile @Nullable StreamCall call;

    GrpcSession(GrpcClient client, String name, Consumer<GrpcSession> ended) {
        this.client = client;
        this.name = name;
        this.ended = ended;
        regions = new Regions(this, client);
        traffic = new SessionTraffic(client.transport());
        connections = new SessionConnections(this, traffic);
    }

    /** Starts the session's call and waits for its first response. */
    void open() {
        Transport.checkMayBlock();
        StreamCall started = StreamCall.start(
                client.transport(),
                client.target(),
                DeviceServiceGrpc.getOpenSessionMethod(),
                OpenSessionRequest.newBuilder().setName(name).build(),
                this::onEvent,
                this::onEnd);
        call = started;
        try {
            Creation.await(client, opened, "open a session");
        } catch (RuntimeException e) {
            started.cancel("the session was not opened");
            events.shutdown();
            throw e;
        }
    }

    @Override
    public String id() {
        return opened.join().getSession();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public SessionLimits limits() {
        return limits.join();
    }

    @Override
    public long defaultProtectionDomain() {
        return opened.join().getDefaultProtectionDomain();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return GrpcProtectionDomain.allocate(this);
    }

    @Override
    public Subscription onEvent(SessionListener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    @Override
    public SharedRegion createSharedRegion(String path, long length, CreateMode mode, RegionOptions options) {
        return regions.share(path, 0, length, Optional.of(mode), options);
    }

    @Override
    public SharedRegion openSharedRegion(String path, long offset, long length, RegionOptions options) {
        return regions.share(path, offset, length, Optional.empty(), options);
    }

    @Override
    public ManagedRegion registerManaged(long length, RegionOptions options) {
        return regions.manage(length, options);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int capacity, long protectionDomain) {
        return GrpcSharedReceiveQueue.create(this, capacity, protectionDomain);
    }

    @Override
    public CompletableFuture<Connection> connectAsync(String host, int port, ConnectionOptions options) {
        return ConnectionCalls.connect(this, host, port, options);
    }

    @Override
    public Connection createConnection(ConnectionOptions options) {
        return ConnectionCalls.create(this, options);
    }

    @Override
    public CompletableFuture<Connection> connectAsync(String host, int port, Connection created) {
        return ConnectionCalls.connect(this, host, port, (GrpcConnection) created);
    }

    @Override
    public Listener listen(String address, int port, ListenOptions options, Consumer<IncomingConnection> handler) {
        return GrpcListener.open(this, address, port, options, handler);
    }

    @Override
    public WorkQueue openQueue(QueueOptions options) {
        return switch (options.path()) {
            case GRPC -> GrpcWorkQueue.open(this, options.outstanding());
            case RINGS -> RingWorkQueue.open(this, options);
            case ANY -> openAnyQueue(options);
        };
    }

    private WorkQueue openAnyQueue(QueueOptions options) {
        try {
            return RingWorkQueue.open(this, options);
        } catch (SidewarpException e) {
            // Rings are not possible here (DEBUG), or they are possible and there is no space for them (WARNING).
            Level level = switch (e.code()) {
                case UNIMPLEMENTED, FAILED_PRECONDITION -> Level.DEBUG;
                case RESOURCE_EXHAUSTED -> Level.WARNING;
                default -> throw e;
            };
            LOG.log(level, () -> "a queue uses gRPC instead of rings: " + e.getMessage());
            return GrpcWorkQueue.open(this, options.outstanding());
        }
    }

    @Override
    public List<RegionInfo> listRegions() {
        return CallFuture.await(start(
                        MemoryServiceGrpc.getListRegionsMethod(),
                        ListRegionsRequest.newBuilder().setSession(id()).build(),
                        timeLimited()))
                .getRegionsList()
                .stream()
                .map(Descriptions::region)
                .toList();
    }

    @Override
    public List<ConnectionInfo> listConnections() {
        return connections.list();
    }

    @Override
    public CompletableFuture<Void> closed() {
        return closed.copy();
    }

    @Override
    public void close() {
        SidewarpException loss = null;
        synchronized (this) {
            if (closing) {
                // Memory that was in use at the first call may be free now.
                regions.unmapAll();
                return;
            }
            closing = true;
        }
        // The event loop must not wait.
        if (!isEnded() && !Transport.isEventLoop()) {
            loss = closeAtSidecar();
        }
        if (finish(Errors.sessionClosed(name))) {
            closed.complete(null);
            StreamCall running = call;
            if (running != null) {
                running.cancel("session closed by its client");
            }
            events.shutdown();
        }
        regions.unmapAll();
        SidewarpException cause = end;
        if (loss == null && cause != null && connections.takeLossAtEnd()) {
            loss = Errors.unconfirmed("session \"" + name + "\"", cause);
        }
        if (loss != null) {
            throw loss;
        }
    }

    /**
     * Lets the sidecar close the connections gracefully. Returns the reason why earlier data may not have arrived, or
     * null.
     */
    private @Nullable SidewarpException closeAtSidecar() {
        Duration half = client.options().callTimeout().dividedBy(2);
        Duration grace = half.compareTo(CLOSE_GRACE) < 0 ? half : CLOSE_GRACE;
        SidewarpException loss = connections.disconnectBehindQueues(grace);
        CloseSessionRequest request = CloseSessionRequest.newBuilder()
                .setSession(id())
                .setGrace(Protos.duration(grace))
                .build();
        try {
            CallFuture.release(start(DeviceServiceGrpc.getCloseSessionMethod(), request, timeLimited()));
        } catch (SidewarpException e) {
            // A session that was lost meanwhile decides from its own records. An older sidecar does not know
            // CloseSession.
            if (loss != null) {
                return loss;
            }
            return isEnded() || e.code() == Status.Code.UNIMPLEMENTED ? null : e;
        }
        connections.takeLosses();
        return loss;
    }

    GrpcClient client() {
        return client;
    }

    /** Returns whether the caller closed the session, and was therefore told of unconfirmed data. */
    boolean isClosed() {
        return closing;
    }

    /** Returns whether the session ended, together with all its objects. */
    boolean isEnded() {
        return end != null;
    }

    /** Starts a unary call that fails when the session ends. */
    <Q, R> CallFuture<R> start(MethodDescriptor<Q, R> method, Q request, CallOptions options) {
        checkOpen();
        CallFuture<R> future = CallFuture.start(client.transport(), client.target(), method, request, options);
        Consumer<SidewarpException> failure = future::fail;
        future.whenComplete((response, cause) -> forget(failure));
        failAtEnd(failure);
        if (future.isDone()) {
            forget(failure);
        }
        return future;
    }

    /**
     * Registers {@code failure}, which is called once when the session ends, or at once if the session has already
     * ended.
     */
    void failAtEnd(Consumer<SidewarpException> failure) {
        outstanding.add(failure);
        SidewarpException cause = end;
        if (cause != null && outstanding.remove(failure)) {
            failure.accept(cause);
        }
    }

    void forget(Consumer<SidewarpException> failure) {
        outstanding.remove(failure);
    }

    void addQueue(SessionQueue queue) {
        queues.add(queue);
    }

    void removeQueue(SessionQueue queue) {
        queues.remove(queue);
    }

    Regions regions() {
        return regions;
    }

    SessionTraffic traffic() {
        return traffic;
    }

    /** Lets the queues send requests that a batch holds back. */
    void flushQueues() {
        queues.forEach(SessionQueue::sendPosted);
    }

    void checkOpen() {
        SidewarpException cause = end;
        if (cause != null) {
            throw cause.again();
        }
    }

    CallOptions timeLimited() {
        return GrpcClient.timeLimited(client.options());
    }

    /** Adds a connection that the sidecar has described to this session. */
    GrpcConnection adopt(io.sidewarp.v1.Connection description, ConnectionOptions options) {
        return connections.adopt(description, options);
    }

    private void onEvent(OpenSessionResponse response) {
        switch (response.getEventCase()) {
            case OPENED -> opened.complete(response.getOpened());
            case CONNECTION -> {
                ConnectionStateChange change = response.getConnection();
                onConnection(Descriptions.event(change), change.getCompletions());
            }
            case REGION_FAULT -> {
                RegionFault fault = response.getRegionFault();
                tell(listener -> listener.regionFault(fault.getRegion(), fault.getMessage()));
            }
            case DRAINING ->
                tell(listener ->
                        listener.draining(Protos.duration(response.getDraining().getGrace())));
            case SHARED_RECEIVE_QUEUE_LIMIT -> {
                SharedReceiveQueueLimitReached reached = response.getSharedReceiveQueueLimit();
                tell(listener ->
                        listener.sharedReceiveLimitReached(reached.getSharedReceiveQueue(), reached.getLimit()));
            }
            case EVENTS_LOST -> {
                connections.findClosed(this::loseEnd);
                tell(listener -> listener.eventsLost(response.getEventsLost().getCount()));
            }
            case EVENT_NOT_SET -> {
                // Ignores an event that only newer clients know.
            }
        }
    }

    private void loseEnd(long id) {
        String message = "closed; the event with the reason was lost";
        onConnection(new ConnectionEvent(id, Connection.State.CLOSED, Optional.empty(), message), 0);
    }

    /**
     * Tells the queues of a closed connection at once: later posts come behind the end of the connection. The event
     * itself waits for the earlier completions.
     */
    private void onConnection(ConnectionEvent event, long completions) {
        if (event.state() == Connection.State.CLOSED) {
            queues.forEach(queue -> queue.connectionClosed(event.connection()));
        }
        traffic.of(event.connection()).runBehind(completions, () -> {
            connections.onEvent(event);
            tell(listener -> listener.connectionChanged(event));
        });
    }

    private void onEnd(@Nullable SidewarpException failure) {
        if (failure == null && closing) {
            // The answer to CloseSession follows.
            return;
        }
        SidewarpException cause = failure != null
                ? failure
                : new SidewarpException(Status.Code.UNAVAILABLE, "the sidecar ended the session (UNAVAILABLE)");
        if (opened.completeExceptionally(cause)) {
            ended.accept(this);
            return;
        }
        traffic.releaseAll();
        SidewarpException lost = Errors.sessionLost(name, cause);
        if (finish(lost)) {
            tell(listener -> listener.lost(lost));
            closed.completeExceptionally(lost);
            events.shutdown();
        }
    }

    private boolean finish(SidewarpException cause) {
        synchronized (this) {
            if (end != null) {
                return false;
            }
            connections.keepUnconfirmed();
            end = cause;
        }
        ended.accept(this);
        for (Consumer<SidewarpException> failure : List.copyOf(outstanding)) {
            if (outstanding.remove(failure)) {
                failure.accept(cause);
            }
        }
        connections.clear();
        return true;
    }

    private void tell(Consumer<SessionListener> event) {
        if (!listeners.isEmpty() && !events.isShutdown()) {
            events.execute(() -> listeners.forEach(listener -> tell(listener, event)));
        }
    }

    /** Tells one listener. A failure of that listener does not keep the event from the other listeners. */
    private void tell(SessionListener listener, Consumer<SessionListener> event) {
        try {
            event.accept(listener);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a listener of session \"" + name + "\" failed", e);
        }
    }
}
