// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.Channel;
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Quota;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.quota.SharedQuota;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * All connections of clients with the API, and what they may hold. The kernel tells users apart, but not the processes of
 * one in different containers: so users share connections and calls, and the connections of a user its calls. Thread-safe.
 */
public final class ApiConnections {

    private static final String CONNECTIONS = "sidewarp.limits.api-connections";
    private static final String CONNECTION_CALLS = "sidewarp.limits.api-connection-calls";
    private static final String CALLS = "sidewarp.limits.api-calls";

    /** Connections beyond the limit that stay for a moment, so that their calls can be told why. */
    static final int MAX_REFUSED = 64;

    private static final long REFUSED_MILLIS = 1000;

    /** Calls whose refusal was not taken by their clients; more than HTTP/2 lets one connection have. */
    private static final int MAX_UNTOLD = 1024;

    private final int connectionCalls;
    private final SharedQuota<Long> connections;
    private final SharedQuota<Long> calls;
    private final QuotaRefusals refusals;
    /** Those beyond the limit, the oldest first. */
    private final Deque<Channel> refused = new ArrayDeque<>();

    private final AtomicInteger untold = new AtomicInteger();

    /** @param refusals counts what is refused */
    public ApiConnections(SidewarpConfig.Limits limits, QuotaRefusals refusals) {
        this.connectionCalls = limits.apiConnectionCalls();
        this.connections = new SharedQuota<>(limits.apiConnections());
        this.calls = new SharedQuota<>(limits.apiCalls());
        this.refusals = refusals;
        List.of(CONNECTIONS, CONNECTION_CALLS, CALLS).forEach(refusals::expect);
    }

    /** Calls of one connection at a time. */
    public int connectionCalls() {
        return connectionCalls;
    }

    /** A new connection; until its channel closes. One beyond the limit refuses all calls and is closed soon. */
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

    /** One more than there may be takes the place of the oldest. */
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
     * One more call of the peer's user.
     *
     * @param own those of its connection
     */
    @Nullable
    StatusRuntimeException takeCall(Peer peer, long own) {
        return calls.take(peer.uid(), 1, own) ? null : refusal(calls, peer, "API calls", CALLS);
    }

    void giveCall(Peer peer) {
        calls.give(peer.uid(), 1);
    }

    /** One more refusal is on its way to its client; false when too many are. */
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
                what + ": nobody may hold more than is left to others; the limit is " + quota.limit() + " (setting "
                        + setting + "), and " + user + " has " + quota.used(peer.uid())
                        + "; end some, or raise the setting");
    }
}
