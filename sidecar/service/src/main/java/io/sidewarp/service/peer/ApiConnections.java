// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.Channel;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Quota;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.quota.SharedQuota;
import io.sidewarp.settings.SidewarpConfig;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * All client connections to the API, and their limits. The kernel distinguishes users, but not one user's processes in
 * different containers. Users therefore share connections and calls, and the connections of one user share its calls.
 * Thread-safe.
 */
public final class ApiConnections {

    private static final String CONNECTIONS = "sidewarp.limits.api-connections";
    private static final String CONNECTION_CALLS = "sidewarp.limits.api-connection-calls";
    private static final String CALLS = "sidewarp.limits.api-calls";

    /** Maximum number of connections above the limit that stay open briefly, so that their calls learn the reason. */
    static final int MAX_REFUSED = 64;

    private static final long REFUSED_MILLIS = 1000;

    /**
     * Maximum number of refusals that clients have not read. It exceeds the number of calls that HTTP/2 admits on one
     * connection.
     */
    private static final int MAX_UNTOLD = 1024;

    private final int connectionCalls;
    private final SharedQuota<Long> connections;
    private final SharedQuota<Long> calls;
    private final QuotaRefusals refusals;
    /** Connections above the limit, oldest first. */
    private final Deque<Channel> refused = new ArrayDeque<>();

    private final AtomicInteger untold = new AtomicInteger();

    /** @param refusals counts refusals */
    public ApiConnections(SidewarpConfig.Limits limits, QuotaRefusals refusals) {
        this.connectionCalls = limits.apiConnectionCalls();
        this.connections = new SharedQuota<>(limits.apiConnections());
        this.calls = new SharedQuota<>(limits.apiCalls());
        this.refusals = refusals;
        List.of(CONNECTIONS, CONNECTION_CALLS, CALLS).forEach(refusals::expect);
    }

    /** Returns the maximum number of concurrent calls of one connection. */
    public int connectionCalls() {
        return connectionCalls;
    }

    /**
     * Adds a connection until its channel closes. A connection above the limit refuses all calls and is closed soon.
     *
     * @throws IOException if the kernel does not tell the credentials of the peer
     */
    public ApiConnection open(Channel channel) throws IOException {
        return open(Peer.of(channel), channel);
    }

    ApiConnection open(Peer peer, Channel channel) {
        StatusRuntimeException refusal = null;
        if (connections.take(peer.uid(), 1)) {
            channel.closeFuture().addListener(closed -> connections.give(peer.uid(), 1));
        } else {
            refusal = refusal(connections, peer, "API connections", CONNECTIONS);
        }
        ApiConnection connection = new ApiConnection(
                this,
                peer,
                channel,
                new Quota("calls of an API connection", CONNECTION_CALLS, connectionCalls, refusals),
                refusal);
        if (refusal != null) {
            closeSoon(channel);
        }
        return connection;
    }

    /** Schedules the close of a refused connection. If there are too many, the oldest one is closed at once. */
    private void closeSoon(Channel channel) {
        Channel oldest;
        synchronized (refused) {
            oldest = refused.size() == MAX_REFUSED ? refused.poll() : null;
            refused.add(channel);
        }
        if (oldest != null) {
            oldest.close();
        }
        channel.closeFuture().addListener(closed -> {
            synchronized (refused) {
                refused.remove(channel);
            }
        });
        channel.eventLoop().schedule(() -> channel.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Counts a call of the peer's user. Returns the status of a refusal, or null.
     *
     * @param own number of calls of the peer's connection
     */
    @Nullable
    StatusRuntimeException takeCall(Peer peer, long own) {
        return calls.take(peer.uid(), 1, own) ? null : refusal(calls, peer, "API calls", CALLS);
    }

    void giveCall(Peer peer) {
        calls.give(peer.uid(), 1);
    }

    /** Counts a refusal that its client has not read. Returns false if there are too many. */
    boolean addUntold() {
        return untold.incrementAndGet() <= MAX_UNTOLD;
    }

    void removeUntold() {
        untold.decrementAndGet();
    }

    private StatusRuntimeException refusal(SharedQuota<Long> quota, Peer peer, String what, String setting) {
        refusals.add(setting);
        String user = peer.uid() == Peer.UNKNOWN ? "unknown users" : "user " + peer.uid();
        return ApiError.of(
                Status.Code.RESOURCE_EXHAUSTED,
                what + ": the fair share of this user is exceeded; the limit is " + quota.limit() + " (setting "
                        + setting + "), and " + user + " has " + quota.used(peer.uid())
                        + "; end some, or raise the setting");
    }
}
