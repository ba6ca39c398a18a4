// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Attributes;
import io.grpc.StatusRuntimeException;
import io.netty.channel.Channel;
import io.sidewarp.service.quota.Quota;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One connection of a client with the API, and what it holds. Thread-safe. */
public final class ApiConnection {

    /** The connection of a transport. */
    public static final Attributes.Key<ApiConnection> ATTRIBUTE = Attributes.Key.create("sidewarp-connection");

    private final ApiConnections all;
    private final Peer peer;
    private final Channel channel;
    private final Quota calls;
    private final @Nullable StatusRuntimeException refusal;
    /** Refusals that the client has not taken. */
    private final AtomicInteger untold = new AtomicInteger();

    /** @param refusal of each call, if there may be none */
    ApiConnection(
            ApiConnections all, Peer peer, Channel channel, Quota calls, @Nullable StatusRuntimeException refusal) {
        this.all = all;
        this.peer = peer;
        this.channel = channel;
        this.calls = calls;
        this.refusal = refusal;
    }

    Peer peer() {
        return peer;
    }

    /**
     * A call begins.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED, and then nothing is held
     */
    void beginCall() {
        if (refusal != null) {
            throw refusal;
        }
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

    /** A call that began has ended, and the client has taken all of it. */
    void endCall() {
        calls.give(1);
        all.giveCall(peer);
    }

    /** A call was refused. A client that does not take its refusals loses the connection when there are too many. */
    void beginRefusal() {
        int own = untold.incrementAndGet();
        if (!all.addUntold() && own > 1) {
            channel.close();
        }
    }

    /** The client has taken the refusal, or is gone. */
    void endRefusal() {
        untold.decrementAndGet();
        all.removeUntold();
    }
}
