// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.netty.util.collection.LongObjectHashMap;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.service.transfer.ConnectionLookup;
import io.sidewarp.service.transfer.ConnectionWork;
import io.sidewarp.service.transfer.SessionRings;
import io.sidewarp.service.transfer.SharedReceiveQueues;
import io.sidewarp.service.transfer.SharedReceiveWork;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.CreateConnectionRequest;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Connections of one session. The most recently closed ones are remembered, so that a late call learns the end of its
 * connection. Confined to the session's thread.
 */
public final class SessionConnections implements ConnectionLookup {

    private final SessionContext context;
    private final SessionMemory memory;
    private final SharedReceiveQueues sharedReceives;
    private final NameLookups names;
    private final LongObjectHashMap<SessionConnection> open = new LongObjectHashMap<>();
    private final ClosedConnections closed = new ClosedConnections();
    private @Nullable SessionRings rings;
    private boolean ended;
    /** True if connections are aborted because the time for a graceful close is over. */
    private boolean cutOff;

    public SessionConnections(SessionContext context, SessionMemory memory, SharedReceiveQueues sharedReceives) {
        this.context = context;
        this.memory = memory;
        this.sharedReceives = sharedReceives;
        this.names = new NameLookups(context);
    }

    /** Sets the rings of the session, which may hold receives that connections need. */
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
    public StatusRuntimeException missing(long id) {
        StatusRuntimeException end = closed.ended(id);
        return end == null ? unknown(id) : end;
    }

    /**
     * Returns the engine's number of a connection, for a region that only this connection may use; 0 for 0.
     *
     * @param domain protection domain of the region; streams of another domain cannot use its STag (RFC 5040 section
     *     8.1.1)
     */
    public long queuePair(long id, Pd domain) {
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

    /** Checks options without private data. */
    void check(ConnectionOptions options) {
        sharedReceives(ConnectionPlan.of(options, ByteString.EMPTY, context));
    }

    /** Creates an idle connection for one Connect or Accept call. */
    public Connection create(CreateConnectionRequest request) {
        ConnectionOptions options = request.getOptions();
        SessionConnection connection = create(ConnectionPlan.of(options, ByteString.EMPTY, context));
        connection.offer(StartupPolicy.withoutRepetitions(options));
        return connection.toProto();
    }

    /** Creates an idle connection that refused work ends, as on an RNIC. */
    public Connection createStrict(CreateConnectionRequest request) {
        Connection created = create(request);
        SessionConnection connection = open.get(created.getId());
        connection.work().endWhenRefused(connection::abort);
        return created;
    }

    /** Connects. The result is complete when the peer has accepted. */
    public ConnectionAttempt connect(ConnectRequest request, Context trace) {
        if (request.getConnection() != 0) {
            requireNoOptions(request.hasOptions(), request.getConnection());
            return connectCreated(request, trace);
        }
        requireNoPosts(request.getAfterPosts());
        ConnectionPlan plan = connectPlan(request, request.getOptions());
        // Check now, so that an impossible request fails before the look-up. The check is repeated once the address is
        // known.
        sharedReceives(plan);
        ConnectionAttempt attempt = new ConnectionAttempt();
        new ConnectCall(this, context, request, plan, trace, attempt, null)
                .start(names)
                .whenComplete(attempt::finish);
        return attempt;
    }

    private ConnectionPlan connectPlan(ConnectRequest request, ConnectionOptions options) {
        return ConnectionPlan.of(options, request.getPrivateData(), context)
                .withSecurity(SecurityRules.connecting(options, request.getAllowedPeersList(), context));
    }

    /**
     * Connects with a created connection. The result is complete when the peer has accepted.
     *
     * @param request its options replace those of the creation, where it has any
     */
    public ConnectionAttempt connectCreated(ConnectRequest request, Context trace) {
        return use(
                request.getConnection(), request.getOptions(), request.getAfterPosts(), (given, options, attempt) -> {
                    ConnectionPlan plan = connectPlan(request, options);
                    return new ConnectCall(this, context, request, plan, trace, attempt, given).start(names);
                });
    }

    /**
     * Accepts a request from a listener. The result is complete when the connection is in full operation.
     *
     * @param waiting finds the request; fails if the request no longer waits
     */
    ConnectionAttempt accept(AcceptRequest request, Supplier<SessionListeners.PendingRequest> waiting, Context trace) {
        SessionListeners.PendingRequest peer = waiting.get();
        if (request.getConnection() != 0) {
            requireNoOptions(request.hasOptions(), request.getConnection());
            return acceptCreated(request, waiting, trace);
        }
        ConnectionOptions listener = peer.call().options();
        requireNoPosts(request.getAfterPosts());
        ConnectionPlan.checkLlp(request.getOptions(), listener.getLlp());
        ConnectionOptions all = StartupPolicy.merge(listener, request.getOptions());
        ConnectionAttempt attempt = new ConnectionAttempt();
        accept(peer, all, request.getPrivateData(), trace, attempt, null).whenComplete(attempt::finish);
        return attempt;
    }

    /** Accepts as {@link #accept} does, with a created connection and as {@link #connectCreated} with options. */
    ConnectionAttempt acceptCreated(
            AcceptRequest request, Supplier<SessionListeners.PendingRequest> waiting, Context trace) {
        ConnectionOptions listener = waiting.get().call().options();
        return use(
                request.getConnection(), request.getOptions(), request.getAfterPosts(), (given, options, attempt) -> {
                    ConnectionPlan.checkLlp(options, listener.getLlp());
                    ConnectionOptions all = StartupPolicy.complete(listener, options);
                    return accept(waiting.get(), all, request.getPrivateData(), trace, attempt, given);
                });
    }

    private CompletableFuture<Connection> accept(
            SessionListeners.PendingRequest peer,
            ConnectionOptions options,
            ByteString privateData,
            Context trace,
            ConnectionAttempt attempt,
            @Nullable SessionConnection given) {
        ConnectionPlan plan = ConnectionPlan.of(options, privateData, context);
        ConnectionRequest request = peer.request();
        SessionConnection connection = begin(given, plan, request.remoteAddress(), false, trace);
        attempt.connection(connection);
        return request.accept(connection.queuePair(), plan.parameters())
                .handleAsync((agreed, failure) -> result(connection, failure), context.loop());
    }

    private static void requireNoPosts(long afterPosts) {
        if (afterPosts != 0) {
            throw ApiError.invalid("after_posts is " + Long.toUnsignedString(afterPosts)
                    + ", but connection is not set; work can be posted before to a connection of"
                    + " CreateConnection only");
        }
    }

    private static void requireNoOptions(boolean hasOptions, long connection) {
        if (hasOptions) {
            throw ApiError.invalid("options is set, but connection " + Long.toUnsignedString(connection)
                    + " has the options that were given to CreateConnection; leave options unset");
        }
    }

    /** Action of a call on a connection of CreateConnection. */
    private interface Use {

        CompletableFuture<Connection> begin(
                SessionConnection given, ConnectionOptions options, ConnectionAttempt attempt);
    }

    /**
     * Runs a Connect or Accept call on a connection of CreateConnection, after the given number of work requests on
     * Queue calls.
     *
     * @param overrides options that replace those of CreateConnection
     */
    private ConnectionAttempt use(long id, ConnectionOptions overrides, long afterPosts, Use use) {
        SessionConnection given = open.get(id);
        if (given == null) {
            throw missing(id);
        }
        ConnectionOptions options = StartupPolicy.merge(given.claim(), overrides);
        ConnectionAttempt attempt = new ConnectionAttempt();
        attempt.connection(given);
        given.work()
                .afterPosts(afterPosts)
                // Asynchronous: the last awaited post may be running on this stack.
                .thenComposeAsync(
                        ignored -> {
                            given.requireNotEnding();
                            return use.begin(given, options, attempt);
                        },
                        context.loop())
                .whenComplete((made, failure) -> {
                    given.unclaim();
                    attempt.finish(made, failure);
                });
        return attempt;
    }

    /**
     * Begins to connect or accept: takes the quota of the peer, and creates the connection unless it is given.
     *
     * @throws StatusRuntimeException if a quota refuses; nothing has begun in that case
     */
    SessionConnection begin(
            @Nullable SessionConnection given,
            ConnectionPlan plan,
            InetSocketAddress remote,
            boolean initiator,
            Context trace) {
        if (given != null) {
            given.requireNotEnding();
        }
        PeerShare share =
                PeerShare.take(context, remote.getAddress(), plan.parameters().ird());
        try {
            SessionConnection connection = given == null ? create(plan) : given;
            connection.begin(remote, initiator, trace, share);
            return connection;
        } catch (RuntimeException | Error e) {
            share.close();
            throw e;
        }
    }

    /**
     * Closes a connection. The result is complete when the connection is closed. A graceful close fails if earlier data
     * may not have arrived.
     *
     * @param afterPosts number of work requests on Queue calls that must precede a graceful close
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
     * Closes all connections gracefully, and aborts the remaining ones after the grace time. The result is complete
     * when all are closed. Fails if earlier data of a connection may not have arrived and no caller was told.
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

    /**
     * Reports the current state of a connection and each change until it is closed. The returned handle stops the
     * reports.
     */
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
        return open.values().stream().map(SessionConnection::toProto).toList();
    }

    /** Returns the ids of connections whose send queue is full while more work waits. */
    public List<Long> fullSendQueues() {
        return open.values().stream()
                .filter(connection -> connection.work().awaitsSendQueue())
                .map(SessionConnection::id)
                .toList();
    }

    public int count() {
        return open.size();
    }

    /** Returns the number of send work requests in progress. */
    public long workUnderWay() {
        return open.values().stream()
                .mapToLong(connection -> connection.work().sendOutstanding())
                .sum();
    }

    /** Returns the number of bytes that moved on the open connections. */
    public long octetsMoved() {
        return open.values().stream()
                .map(connection -> connection.queuePair().counters())
                .mapToLong(counters -> counters.octetsSent() + counters.octetsReceived())
                .sum();
    }

    /** Closes all connections gracefully. */
    public CompletableFuture<Void> disconnectAll() {
        return all(SessionConnection::disconnect);
    }

    /** Aborts all connections, including those whose peer's name is being looked up. Idempotent. */
    public CompletableFuture<Void> release() {
        ended = true;
        names.release();
        return all(SessionConnection::abort);
    }

    /** Returns a future that completes after {@link #release}, when no look-up of a name has a thread any more. */
    public CompletableFuture<Void> lookupsSettled() {
        return names.settled();
    }

    private CompletableFuture<Void> all(Function<SessionConnection, CompletableFuture<Void>> end) {
        return CompletableFuture.allOf(
                List.copyOf(open.values()).stream().map(end).toArray(CompletableFuture[]::new));
    }

    private SessionConnection create(ConnectionPlan plan) {
        if (ended) {
            throw ApiError.sessionEnded();
        }
        SessionConnection connection =
                new SessionConnection(context, plan, memory.domain(plan.domain()), sharedReceives(plan), this::forget);
        open.put(connection.id(), connection);
        if (rings != null) {
            connection.work().use(rings);
        }
        return connection;
    }

    /** Returns the shared receive queue for a connection; null for receives of its own. */
    private @Nullable SharedReceiveWork sharedReceives(ConnectionPlan plan) {
        Pd domain = memory.domain(plan.domain());
        if (plan.sharedReceives() == 0) {
            return null;
        }
        SharedReceiveWork queue = sharedReceives.require(plan.sharedReceives());
        if (queue.domain() != domain) {
            throw ApiError.invalid("options.shared_receive_queue " + queue.id() + " is of protection domain "
                    + queue.domain().id() + ", the connection of " + domain.id()
                    + "; use the same (options.protection_domain)");
        }
        return queue;
    }

    /** Returns the result of a set-up. A failed set-up ends its connection. */
    static Connection result(SessionConnection connection, @Nullable Throwable failure) {
        if (failure == null) {
            connection.chargeReached();
            return connection.toProto();
        }
        Throwable cause = cause(failure);
        if (is(Kind.LAPSED, cause)) {
            // The set-up ended earlier and was counted then.
            connection.abort();
        } else {
            connection.failed(StartupFailure.of(cause), String.valueOf(cause.getMessage()));
        }
        throw ApiError.from(cause);
    }

    static boolean is(Kind kind, Throwable failure) {
        return cause(failure) instanceof ConnectionFailedException failed && failed.kind() == kind;
    }

    static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void forget(SessionConnection connection) {
        open.remove(connection.id());
        closed.add(connection, connection.loss(cutOff));
    }

    private static StatusRuntimeException unknown(long id) {
        return ApiError.notFound("connection", id, "create, connect or accept it first, in this session");
    }
}
