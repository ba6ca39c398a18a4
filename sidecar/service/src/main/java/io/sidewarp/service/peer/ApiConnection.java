// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Attributes;
import io.grpc.StatusRuntimeException;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.sidewarp.service.quota.Quota;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One client connection to the API, and the calls that it holds. Thread-safe. */
public final class ApiConnection {

    /** Attribute of a transport: its connection. */
    public static final Attributes.Key<ApiConnection> ATTRIBUTE = Attributes.Key.create("sidewarp-connection");

    private final ApiConnections all;
    private final Peer peer;
    private final Channel channel;
    private final Quota calls;
    private final @Nullable StatusRuntimeException refusal;
    /** Refusals that the client has not read. */
    private final AtomicInteger untold = new AtomicInteger();

    /** @param refusal status that refuses every call of this connection, or null */
    ApiConnection(
            ApiConnections all, Peer peer, Channel channel, Quota calls, @Nullable StatusRuntimeException refusal) {
        this.all = all;
        this.peer = peer;
        this.channel = channel;
        this.calls = calls;
        this.refusal = refusal;
    }

    /**
     * Checks that the connection is within its limit.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED if the connection is above the limit
     */
    public void requireAdmitted() {
        if (refusal != null) {
            throw refusal;
        }
    }

    /** Returns the process at the other end. */
    public Peer peer() {
        return peer;
    }

    /** Returns the loop of the connection's transport. */
    EventLoop loop() {
        return channel.eventLoop();
    }

    /**
     * Counts a new call.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED beyond a limit; the call is not counted in that case
     */
    void beginCall() {
        requireAdmitted();
        calls.take(1);
        try {
            StatusRuntimeException failure = all.takeCall(peer, calls.used() - 1);
            if (failure != null) {
                throw failure;
            }
        } catch (RuntimeException | Error e) {
            calls.give(1);
            throw e;
        }
    }

    /** Ends a call that was counted, after the client has read all of it. */
    void endCall() {
        calls.give(1);
        all.giveCall(peer);
    }

    /** Counts a refused call. A client that does not read its refusals loses the connection when there are too many. */
    void beginRefusal() {
        int own = untold.incrementAndGet();
        if (!all.addUntold() && own > 1) {
            channel.close();
        }
    }

    /** Ends a refusal that the client has read, or whose client has left. */
    void endRefusal() {
        untold.decrementAndGet();
        all.removeUntold();
    }
}
