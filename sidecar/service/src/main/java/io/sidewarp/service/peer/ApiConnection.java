// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.netty.channel.Channel;
import io.sidewarp.service.quota.Quota;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One connection of a client with the API, and what it holds. Thread-safe. */
public final class ApiConnection {

    /** The connection of a transport. */
    public static final Attributes.Key<ApiConnection> ATTRIBUTE = Attributes.Key.create("sidewarp-connection");

    /** The connection of the call that runs. */
    public static final Context.Key<ApiConnection> CONTEXT = Context.key("sidewarp-connection");

    private final ApiConnections all;
    private final Peer peer;
    private final Channel channel;
    private final Quota calls;
    private final @Nullable StatusRuntimeException refusal;
    /** Refusals that the client has not taken. */
    private final AtomicInteger untold = new AtomicInteger();

    private final AtomicLong requestOctets = new AtomicLong();
    private final AtomicLong answerOctets = new AtomicLong();

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

    /** Takes some of the octets that Load sends ahead; false when the connection has its share. */
    public boolean takeLoadOctets(int octets) {
        return all.loadOctets().take(this, octets);
    }

    public void giveLoadOctets(int octets) {
        all.loadOctets().give(this, octets);
    }

    /**
     * Takes octets of requests that are held.
     *
     * @return why not, and then nothing is taken
     */
    @Nullable
    StatusRuntimeException takeRequestOctets(long octets) {
        StatusRuntimeException failure = all.takeRequestOctets(peer, octets, requestOctets.get());
        if (failure == null) {
            requestOctets.addAndGet(octets);
        }
        return failure;
    }

    void giveRequestOctets(long octets) {
        requestOctets.addAndGet(-octets);
        all.giveRequestOctets(peer, octets);
    }

    /**
     * Takes octets of answers that the client did not read.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED, and then nothing is taken
     */
    void takeAnswerOctets(long octets) {
        StatusRuntimeException failure = all.takeAnswerOctets(peer, octets, answerOctets.get());
        if (failure != null) {
            throw failure;
        }
        answerOctets.addAndGet(octets);
    }

    void giveAnswerOctets(long octets) {
        answerOctets.addAndGet(-octets);
        all.giveAnswerOctets(peer, octets);
    }

    /** On the thread of the connection's transport, soon. */
    void execute(Runnable task) {
        channel.eventLoop().execute(task);
    }
}
