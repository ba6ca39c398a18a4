// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One Connect call. Looks up the peer's name, and connects to the first address that is reachable. Confined to the
 * session's thread.
 *
 * @param given connection of CreateConnection to use; null: the call creates a connection
 */
record ConnectCall(
        SessionConnections connections,
        SessionContext context,
        ConnectRequest request,
        ConnectionPlan plan,
        Context trace,
        ConnectionAttempt attempt,
        @Nullable SessionConnection given) {

    /** Minimum time for one of several addresses, if that much is left. TCP sends a second SYN after one second. */
    private static final Duration LEAST_REACH_TIMEOUT = Duration.ofMillis(1500);

    /** Connects. The result is complete when the peer has accepted. */
    CompletableFuture<Connection> start(NameLookups names) {
        return addresses(names).thenCompose(addresses -> connectInTurn(turns(addresses), 0));
    }

    private CompletableFuture<List<InetAddress>> addresses(NameLookups names) {
        InetAddress literal = AddressResolver.remote(request.getAddress(), request.getPort());
        if (literal != null) {
            return CompletableFuture.completedFuture(List.of(literal));
        }
        NameLookups.Lookup lookup =
                names.begin(request.getAddress(), plan.parameters().timeout(), given == null ? 1 : 0);
        attempt.lookup(lookup);
        return lookup.result().whenComplete((addresses, failure) -> {
            if (failure != null) {
                context.telemetry().connections().failed(true, StartupFailure.of(SessionConnections.cause(failure)));
                if (given != null) {
                    given.abort();
                }
            }
        });
    }

    /**
     * Groups the addresses that are tried together, in order. One group holds all addresses if the engine races them
     * (RFC 8305), else each address is a group. A given connection has one group with one address, because its queue
     * pair connects only once.
     */
    private List<List<InetSocketAddress>> turns(List<InetAddress> addresses) {
        List<InetSocketAddress> remotes = addresses.stream()
                .map(address -> new InetSocketAddress(address, request.getPort()))
                .toList();
        if (context.device().racesAddresses(plan.parameters().llp())) {
            return List.of(remotes);
        }
        return given == null ? remotes.stream().map(List::of).toList() : List.of(List.of(remotes.getFirst()));
    }

    /**
     * Connects to the first reachable address, starting with the given group. Once a peer was reached, no other address
     * is tried: the application of that peer may have been asked.
     */
    private CompletableFuture<Connection> connectInTurn(List<List<InetSocketAddress>> turns, int turn) {
        if (attempt.isCancelled()) {
            throw ApiError.of(Status.Code.CANCELLED, "the call was cancelled");
        }
        List<InetSocketAddress> remotes = turns.get(turn);
        SessionConnection connection = connections.begin(given, plan, remotes.getFirst(), true, trace);
        attempt.connection(connection);
        return connection
                .queuePair()
                .connect(remotes, parameters(turns.size() - turn))
                .handleAsync(
                        (agreed, failure) -> {
                            if (failure == null || !isUnreached(failure) || turns.size() == 1) {
                                return CompletableFuture.completedFuture(
                                        SessionConnections.result(connection, failure));
                            }
                            if (turn + 1 == turns.size()) {
                                return CompletableFuture.completedFuture(
                                        SessionConnections.result(connection, noneReached(turns.size(), failure)));
                            }
                            connection.failed(
                                    StartupFailure.UNREACHABLE,
                                    String.valueOf(
                                            SessionConnections.cause(failure).getMessage()));
                            // The failed connection counts against the quotas until it is closed.
                            return connection.closed().thenCompose(ignored -> connectInTurn(turns, turn + 1));
                        },
                        context.loop())
                .thenCompose(Function.identity());
    }

    private static boolean isUnreached(Throwable failure) {
        return SessionConnections.cause(failure) instanceof ConnectionFailedException failed
                && failed.kind().isUnreached();
    }

    private static ConnectionFailedException noneReached(int addresses, Throwable last) {
        return new ConnectionFailedException(
                Kind.UNREACHABLE,
                "none of the " + addresses + " addresses of the name is reached; the last one: "
                        + SessionConnections.cause(last).getMessage());
    }

    /**
     * Returns the parameters with the time that is left. A look-up is part of the set-up and has used some of its time.
     * A group without a reachable address leaves an equal part of the time to each later group.
     *
     * @param turns number of groups that are left, including this one
     */
    private ConnectionParameters parameters(int turns) {
        NameLookups.Lookup lookup = attempt.lookup();
        if (lookup == null) {
            return plan.parameters();
        }
        Duration left = lookup.timeLeft();
        Duration part = left.dividedBy(turns);
        return plan.parameters()
                .withTimeout(left)
                .withReachTimeout(part.compareTo(LEAST_REACH_TIMEOUT) < 0 ? LEAST_REACH_TIMEOUT : part);
    }
}
