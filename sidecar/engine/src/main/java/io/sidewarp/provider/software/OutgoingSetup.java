// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.RtrKind;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpConnector;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRejectedException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Set-up of a connection from this side: TCP, then MPA as Initiator. Lives on the queue pair's event loop. */
final class OutgoingSetup extends ConnectionSetup implements MpaStartupListener {

    private final SoftwareQueuePair queuePair;
    private final InetSocketAddress remote;
    private final ConnectionParameters parameters;
    private final CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
    private @Nullable TcpTransport transport;
    private @Nullable MpaConnection mpa;
    private @Nullable ScheduledFuture<?> timer;
    private boolean over;

    OutgoingSetup(
            SoftwareDevice device,
            SoftwareQueuePair queuePair,
            InetSocketAddress remote,
            ConnectionParameters parameters) {
        super(device);
        this.queuePair = queuePair;
        this.remote = remote;
        this.parameters = parameters;
    }

    CompletableFuture<ConnectionAttributes> result() {
        return result;
    }

    void start() {
        byte[] privateData = parameters.privateData();
        ConnectionFailedException problem = check(device().settings(), parameters);
        if (problem == null) {
            problem = checkPrivateData(privateData, MpaOptions.MAX_PRIVATE_DATA);
        }
        if (problem != null) {
            fail(problem);
            return;
        }
        MpaOptions options = mpaOptions(parameters);
        problem = checkPrivateData(privateData, options.requestRoom());
        if (problem != null) {
            fail(problem);
            return;
        }
        timer = queuePair.loop().schedule(this::onTimeout, parameters.timeout().toNanos(), TimeUnit.NANOSECONDS);
        connect(options);
    }

    private void connect(MpaOptions options) {
        TcpConnector.connect(
                        device().loops(),
                        queuePair.loop(),
                        remote,
                        parameters.timeout(),
                        connected -> onConnected(connected, options))
                .whenComplete((ignored, failure) -> {
                    if (failure != null) {
                        fail(new ConnectionFailedException(
                                Kind.UNREACHABLE,
                                "no TCP connection to " + remote + ": " + failure.getMessage()
                                        + "; check the address and that the peer listens",
                                failure));
                    }
                });
    }

    private void onConnected(TcpTransport connected, MpaOptions options) {
        MpaConnection connection = new MpaConnection(MpaRole.INITIATOR, options, connected, this);
        connected.bind(connection);
        if (over) {
            connected.abort();
            return;
        }
        transport = connected;
        mpa = connection;
        connection.start();
    }

    /** The TCP connection is of no more use; a second one asks with revision 1, in what is left of the time. */
    @Override
    public void onUnenhancedPeer(String message) {
        if (!over) {
            mpa = null;
            transport = null;
            connect(mpaOptions(parameters).with(policy -> policy.withRequestRevision(1)));
        }
    }

    private void onTimeout() {
        if (over) {
            return;
        }
        fail(new ConnectionFailedException(
                Kind.TIMEOUT,
                "no answer from " + remote + " within " + parameters.timeout().toMillis()
                        + " ms; the peer may not speak MPA, or its application does not answer"));
        if (mpa != null) {
            mpa.startupTimeout();
        }
    }

    @Override
    public void onRequest(MpaStartup request) {
        throw new IllegalStateException("an Initiator gets no Request");
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        MpaConnection connection = mpa;
        TcpTransport below = transport;
        if (connection == null || below == null || over) {
            return;
        }
        end();
        RdmapStream stream = attachStream(queuePair, connection, agreed);
        LlpError error = agreed.error();
        if (error != null) {
            queuePair.onRefused(stream);
            result.completeExceptionally(new ConnectionFailedException(
                    Kind.PROTOCOL, "start-up with " + remote + " failed: " + refusal(error, agreed)));
            return;
        }
        RtrKind rtr = agreed.rtr();
        if (rtr != null) {
            stream.indicateReady(rtr);
        }
        result.complete(establish(queuePair, stream, below, agreed, true));
    }

    private static String refusal(LlpError error, MpaStartup agreed) {
        return error == LlpError.INSUFFICIENT_IRD
                ? "the peer wants " + depthsOfPeer(agreed).ord().orElse(0)
                        + " RDMA Reads at a time, more than this side serves; raise the IRD, or lower the peer's ORD"
                : "the peer offers no ready-to-receive indication that this side can send; permit more kinds, or the"
                        + " client-server model";
    }

    @Override
    public void onRejected(MpaStartup reply) {
        if (!over) {
            end();
            queuePair.onSetupFailed("rejected by the peer");
            result.completeExceptionally(new ConnectionRejectedException(
                    "the application at " + remote + " rejected the connection",
                    reply.privateData(),
                    depthsOfPeer(reply)));
        }
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        fail(new ConnectionFailedException(Kind.PROTOCOL, "start-up with " + remote + " failed: " + message));
    }

    @Override
    void abort() {
        fail(new ConnectionFailedException(Kind.ABORTED, "the connection to " + remote + " was closed during set-up"));
        if (mpa != null) {
            mpa.abort();
        }
    }

    private void fail(ConnectionFailedException failure) {
        if (!over) {
            end();
            queuePair.onSetupFailed(String.valueOf(failure.getMessage()));
            result.completeExceptionally(failure);
        }
    }

    private void end() {
        over = true;
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
