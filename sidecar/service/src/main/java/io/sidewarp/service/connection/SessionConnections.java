// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.service.transfer.ConnectionLookup;
import io.sidewarp.service.transfer.ConnectionWork;
import io.sidewarp.service.transfer.InitialReceives;
import io.sidewarp.service.transfer.SessionRings;
import io.sidewarp.service.transfer.SessionTransfers;
import io.sidewarp.service.transfer.SharedReceiveQueues;
import io.sidewarp.service.transfer.SharedReceiveWork;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.ReceiveWork;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one session. The last ones that were closed are remembered, so that a late call learns what became
 * of its connection. Confined to the session's thread.
 */
public final class SessionConnections implements ConnectionLookup {

    /** For one of several addresses, if there is so much: TCP sends a second SYN after a second. */
    private static final Duration LEAST_REACH_TIMEOUT = Duration.ofMillis(1500);

    private final SessionContext context;
    private final SessionMemory memory;
    private final SharedReceiveQueues sharedReceives;
    private final NameLookups names;
    private final LongObjectHashMap<SessionConnection> open = new LongObjectHashMap<>();
    private final ClosedConnections closed = new ClosedConnections();
    private @Nullable SessionRings rings;
    private boolean ended;
    /** Connections are aborted that had no time to close gracefully. */
    private boolean cutOff;

    public SessionConnections(SessionContext context, SessionMemory memory, SharedReceiveQueues sharedReceives) {
        this.context = context;
        this.memory = memory;
        this.sharedReceives = sharedReceives;
        this.names = new NameLookups(context);
    }

    /** Sets the rings of the session, whose receives connections may need. */
    public void use(SessionRings sessionRings) {
        rings = sessionRings;
    }

    @Override
    public @Nullable ConnectionWork find(long connection) {
        SessionConnection found = open.get(connection);
        return found == null ? null : found.work();
    }

    @Override
    public long endings() {
        return closed.count();
    }

    @Override
    public InitialReceives initialReceives(long id) {
        SessionConnection connection = open.get(id);
        if (connection != null) {
            return connection.work().initialReceives();
        }
        InitialReceives parked = closed.parkedReceives(id);
        if (parked == null) {
            throw missing(id);
        }
        return parked;
    }

    @Override
    public StatusRuntimeException missing(long id) {
        StatusRuntimeException end = closed.ended(id);
        return end == null ? unknown(id) : end;
    }

    /**
     * The engine's number of a connection, for a region that only it may use; 0 for 0.
     *
     * @param domain of the region, whose STag is of no use to streams of another one (RFC 5040 section 8.1.1)
     */
    public long queuePair(long id, ProtectionDomain domain) {
        if (id == 0) {
            return 0;
        }
        SessionConnection connection = open.get(id);
        if (connection == null) {
            throw missing(id);
        }
        if (connection.domain() != domain) {
            throw ApiError.invalid("connection " + Long.toUnsignedString(id) + " is of protection domain "
                    + connection.domain().id() + ", the region of " + domain.id()
                    + "; use the same (protection_domain)");
        }
        return connection.queuePair().number();
    }

    /** Checks options without private data and receives. */
    void check(ConnectionOptions options) {
        sharedReceives(ConnectionPlan.of(options, ByteString.EMPTY, context), List.of());
    }

    /** Connects. Complete when the peer accepted. */
    public Attempt connect(ConnectRequest request, SessionTransfers transfers, io.opentelemetry.context.Context trace) {
        ConnectionPlan plan = ConnectionPlan.of(request.getOptions(), request.getPrivateData(), context);
        // Again once the address is known; what cannot work fails before that.
        sharedReceives(plan, request.getReceivesList());
        Attempt attempt = new Attempt();
        Outgoing outgoing = new Outgoing(plan, request, transfers, trace, attempt);
        addresses(outgoing)
                .thenCompose(addresses -> connectInTurn(outgoing, turns(outgoing, addresses), 0))
                .whenComplete(attempt::finish);
        return attempt;
    }

    private CompletableFuture<List<InetAddress>> addresses(Outgoing outgoing) {
        ConnectRequest request = outgoing.request;
        InetAddress literal = AddressResolver.remote(request.getAddress(), request.getPort());
        if (literal != null) {
            return CompletableFuture.completedFuture(List.of(literal));
        }
        NameLookups.Lookup lookup =
                names.begin(request.getAddress(), outgoing.plan.parameters().timeout());
        outgoing.attempt.lookup = lookup;
        return lookup.result().whenComplete((addresses, failure) -> {
            if (failure != null) {
                context.telemetry().connections().failed(true, StartupFailure.of(cause(failure)));
            }
        });
    }

    /** Addresses that are tried together, in their order: all, where the engine races them (RFC 8305), or one at a time. */
    private List<List<InetSocketAddress>> turns(Outgoing outgoing, List<InetAddress> addresses) {
        List<InetSocketAddress> remotes = addresses.stream()
                .map(address -> new InetSocketAddress(address, outgoing.request.getPort()))
                .toList();
        return context.device().racesAddresses(outgoing.plan.parameters().llp())
                ? List.of(remotes)
                : remotes.stream().map(List::of).toList();
    }

    /**
     * Connects to the first of the addresses that is reached, from a turn on. A peer that was reached is not left for another
     * one: its application may have been asked.
     */
    private CompletableFuture<Connection> connectInTurn(
            Outgoing outgoing, List<List<InetSocketAddress>> turns, int turn) {
        if (outgoing.attempt.cancelled) {
            throw ApiError.of(Status.Code.CANCELLED, "the call was cancelled");
        }
        List<ReceiveWork> receives = outgoing.request.getReceivesList();
        List<InetSocketAddress> remotes = turns.get(turn);
        SessionConnection connection = create(outgoing.plan, receives, remotes.getFirst(), true, outgoing.trace);
        outgoing.attempt.connection = connection;
        post(connection, outgoing.transfers, receives);
        return connection
                .queuePair()
                .connect(remotes, parameters(outgoing, turns.size() - turn))
                .handleAsync(
                        (agreed, failure) -> {
                            if (failure == null || !is(Kind.UNREACHABLE, failure) || turns.size() == 1) {
                                return CompletableFuture.completedFuture(result(connection, failure));
                            }
                            if (turn + 1 == turns.size()) {
                                return CompletableFuture.completedFuture(
                                        result(connection, noneReached(turns.size(), failure)));
                            }
                            connection.failed(
                                    StartupFailure.UNREACHABLE,
                                    String.valueOf(cause(failure).getMessage()));
                            // Until then it counts for the quotas.
                            return connection.closed().thenCompose(ignored -> connectInTurn(outgoing, turns, turn + 1));
                        },
                        context.loop())
                .thenCompose(Function.identity());
    }

    private static boolean is(Kind kind, Throwable failure) {
        return cause(failure) instanceof ConnectionFailedException failed && failed.kind() == kind;
    }

    private static ConnectionFailedException noneReached(int addresses, Throwable last) {
        return new ConnectionFailedException(
                Kind.UNREACHABLE,
                "none of the " + addresses + " addresses of the name is reached; the last one: "
                        + cause(last).getMessage());
    }

    /**
     * A look-up is a part of the set-up, and has taken some of its time. A turn in which nobody is reached leaves a part for
     * each one behind it.
     *
     * @param turns that are left, this one included
     */
    private static ConnectionParameters parameters(Outgoing outgoing, int turns) {
        NameLookups.Lookup lookup = outgoing.attempt.lookup;
        if (lookup == null) {
            return outgoing.plan.parameters();
        }
        Duration left = lookup.timeLeft();
        Duration part = left.dividedBy(turns);
        return outgoing.plan
                .parameters()
                .withTimeout(left)
                .withReachTimeout(part.compareTo(LEAST_REACH_TIMEOUT) < 0 ? LEAST_REACH_TIMEOUT : part);
    }

    /** What a Connect call asks for, and how far it is. */
    private record Outgoing(
            ConnectionPlan plan,
            ConnectRequest request,
            SessionTransfers transfers,
            io.opentelemetry.context.Context trace,
            Attempt attempt) {}

    /**
     * Accepts a request that a listener got. Complete when the connection is in full operation.
     *
     * @param options of the request, completed by the listener's
     */
    Attempt accept(
            ConnectionRequest peer,
            ConnectionOptions options,
            AcceptRequest request,
            SessionTransfers transfers,
            io.opentelemetry.context.Context trace) {
        ConnectionPlan plan = ConnectionPlan.of(options, request.getPrivateData(), context);
        Attempt attempt = new Attempt();
        SessionConnection connection = create(plan, request.getReceivesList(), peer.remoteAddress(), false, trace);
        attempt.connection = connection;
        post(connection, transfers, request.getReceivesList());
        peer.accept(connection.queuePair(), plan.parameters())
                .handleAsync((agreed, failure) -> result(connection, failure), context.loop())
                .whenComplete(attempt::finish);
        return attempt;
    }

    /**
     * Closes a connection. Complete when it is closed; fails when earlier data may not have arrived, unless it is to be aborted.
     *
     * @param afterPosts work requests on Queue calls that a graceful close is to come behind
     */
    public CompletableFuture<Void> disconnect(long id, boolean abort, long afterPosts) {
        SessionConnection connection = open.get(id);
        if (connection == null) {
            if (!closed.knows(id)) {
                throw unknown(id);
            }
            return abort ? CompletableFuture.completedFuture(null) : closed.disconnected(id);
        }
        return abort
                ? connection.abort()
                : connection.disconnectBehind(afterPosts).thenCompose(ignored -> closed.disconnected(id));
    }

    /**
     * Closes all connections gracefully, and aborts what is left after a time. Complete when all are closed; fails when
     * earlier data of one may not have arrived and nobody was told.
     */
    public CompletableFuture<Void> closeAll(Duration grace) {
        cutOff = grace.isZero();
        CompletableFuture<Void> ends = cutOff ? all(SessionConnection::abort) : disconnectAll();
        ScheduledFuture<?> limit = context.loop()
                .schedule(
                        () -> {
                            cutOff = true;
                            open.values().forEach(SessionConnection::abort);
                        },
                        grace.toNanos(),
                        TimeUnit.NANOSECONDS);
        return ends.thenRun(() -> {
            limit.cancel(false);
            closed.end();
        });
    }

    /** Tells the present state of a connection and each change until it is closed; the result ends that. */
    public Runnable watch(long id, Consumer<ConnectionStateChange> watcher) {
        SessionConnection connection = open.get(id);
        if (connection != null) {
            return connection.watch(watcher);
        }
        ConnectionStateChange end = closed.end(id);
        if (end == null) {
            throw unknown(id);
        }
        watcher.accept(end);
        return () -> {};
    }

    public List<Connection> list() {
        List<Connection> list = new ArrayList<>(open.size());
        for (SessionConnection connection : open.values()) {
            list.add(connection.toProto());
        }
        return list;
    }

    public int count() {
        return open.size();
    }

    /** Writes, Reads and Sends that are under way. */
    public long workUnderWay() {
        long sum = 0;
        for (SessionConnection connection : open.values()) {
            sum += connection.work().sendOutstanding();
        }
        return sum;
    }

    /** Octets that moved on the connections that are open. */
    public long octetsMoved() {
        long sum = 0;
        for (SessionConnection connection : open.values()) {
            sum += connection.queuePair().counters().octetsSent()
                    + connection.queuePair().counters().octetsReceived();
        }
        return sum;
    }

    /** Closes all connections gracefully. */
    public CompletableFuture<Void> disconnectAll() {
        return all(SessionConnection::disconnect);
    }

    /** Aborts all connections, those whose peer's name is being looked up too. Idempotent. */
    public CompletableFuture<Void> release() {
        ended = true;
        names.release();
        return all(SessionConnection::abort).thenRun(closed::forgetReceives);
    }

    /** Complete when no look-up of a name, of those that release ended, has a thread any more. */
    public CompletableFuture<Void> lookupsSettled() {
        return names.settled();
    }

    private CompletableFuture<Void> all(Function<SessionConnection, CompletableFuture<Void>> end) {
        List<CompletableFuture<Void>> ends = new ArrayList<>(open.size());
        for (SessionConnection connection : List.copyOf(open.values())) {
            ends.add(end.apply(connection));
        }
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    }

    private SessionConnection create(
            ConnectionPlan plan,
            List<ReceiveWork> initialReceives,
            InetSocketAddress remote,
            boolean initiator,
            io.opentelemetry.context.Context trace) {
        if (ended) {
            throw ApiError.of(Status.Code.CANCELLED, "the session ended");
        }
        SessionConnection connection = new SessionConnection(
                context,
                plan,
                remote,
                memory.domain(plan.domain()),
                sharedReceives(plan, initialReceives),
                initialReceives.size(),
                initiator,
                trace,
                this::forget);
        open.put(connection.id(), connection);
        SessionRings receives = rings;
        if (receives != null) {
            connection.work().use(receives);
        }
        return connection;
    }

    /** Where a connection shall take its receives from; null for receives of its own. */
    private @Nullable SharedReceiveWork sharedReceives(ConnectionPlan plan, List<ReceiveWork> initialReceives) {
        ProtectionDomain domain = memory.domain(plan.domain());
        if (plan.sharedReceives() == 0) {
            return null;
        }
        SharedReceiveWork queue = sharedReceives.require(plan.sharedReceives());
        if (queue.domain() != domain) {
            throw ApiError.invalid("options.shared_receive_queue " + queue.id() + " is of protection domain "
                    + queue.domain().id() + ", the connection of " + domain.id()
                    + "; use the same (options.protection_domain)");
        }
        if (!initialReceives.isEmpty()) {
            throw ApiError.invalid("receives has " + initialReceives.size() + " entries, but the connection takes its"
                    + " receives from shared receive queue " + queue.id()
                    + "; post them there (WorkRequest.shared_receive_queue), and leave receives empty");
        }
        return queue;
    }

    private static void post(SessionConnection connection, SessionTransfers transfers, List<ReceiveWork> receives) {
        try {
            transfers.postInitial(connection.work(), receives);
        } catch (RuntimeException e) {
            connection.abort();
            throw e;
        }
    }

    private static Connection result(SessionConnection connection, @Nullable Throwable failure) {
        if (failure == null) {
            connection.chargeReached();
            return connection.toProto();
        }
        Throwable cause = cause(failure);
        if (is(Kind.LAPSED, cause)) {
            // Its set-up ended before; this one had none.
            connection.abort();
        } else {
            connection.failed(StartupFailure.of(cause), String.valueOf(cause.getMessage()));
        }
        throw ApiError.from(cause);
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void forget(SessionConnection connection) {
        open.remove(connection.id());
        closed.add(connection, connection.loss(cutOff));
    }

    private static StatusRuntimeException unknown(long id) {
        return ApiError.notFound("connection", id, "connect or accept it first, in this session");
    }

    /** A connection in the making. */
    public static final class Attempt {

        private final CompletableFuture<Connection> result = new CompletableFuture<>();
        private @Nullable SessionConnection connection;
        private NameLookups.@Nullable Lookup lookup;
        private boolean cancelled;

        /** Complete on the session's thread. */
        public CompletableFuture<Connection> result() {
            return result;
        }

        /** The caller left: nobody would ever use the connection. */
        public void cancel() {
            cancelled = true;
            if (lookup != null) {
                lookup.cancel();
            }
            if (connection != null) {
                connection.abort();
            }
        }

        private void finish(@Nullable Connection made, @Nullable Throwable failure) {
            if (made != null) {
                result.complete(made);
            } else {
                result.completeExceptionally(failure == null ? new IllegalStateException("no connection") : failure);
            }
        }
    }
}
