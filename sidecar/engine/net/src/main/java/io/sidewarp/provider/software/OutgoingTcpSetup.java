// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpRace;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.LlpError;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sets up a connection from this side: TCP, then MPA as Initiator. */
final class OutgoingTcpSetup extends OutgoingSetup implements MpaStartupListener {

    private @Nullable CompletableFuture<Void> attempt;
    private @Nullable TcpTransport transport;
    private @Nullable MpaConnection mpa;

    OutgoingTcpSetup(
            SoftwareDevice device,
            SoftwareQueuePair queuePair,
            List<InetSocketAddress> remotes,
            ConnectionParameters parameters) {
        super(device, queuePair, remotes, parameters);
    }

    @Override
    protected void connect(MpaOptions options) {
        CompletableFuture<Void> begun = TcpRace.connect(
                device().loops(),
                queuePair().loop(),
                remotes(),
                (remote, connected) -> onConnected(remote, connected, options));
        attempt = begun;
        begun.whenComplete((ignored, failure) -> {
            if (failure != null) {
                fail(describe(failure));
            }
        });
    }

    private ConnectionFailedException describe(Throwable failure) {
        return failure instanceof TcpRace.NoneReachedException none
                ? new ConnectionFailedException(Kind.UNREACHABLE, TcpFailure.describe(none.failures()), failure)
                : failureHere(remote(), failure);
    }

    private void onConnected(InetSocketAddress remote, TcpTransport connected, MpaOptions options) {
        transport = connected;
        MpaConnection connection = new MpaConnection(MpaRole.INITIATOR, options, connected, this);
        connected.bind(connection);
        if (isOver()) {
            connected.abort();
            return;
        }
        mpa = connection;
        reached(remote);
        connection.start();
    }

    /**
     * Connects again and requests MPA revision 1, because MPA closed the first TCP connection. The second attempt must
     * end within the remaining time.
     */
    @Override
    public void onUnenhancedPeer(String message) {
        if (!isOver()) {
            mpa = null;
            transport = null;
            MpaOptions again = options(parameters()).with(policy -> policy.withRequestRevision(1));
            ConnectionFailedException problem = checkPrivateData(again.privateData(), again.requestRoom());
            if (problem == null) {
                connect(again);
            } else {
                failed(message + "; cannot retry with MPA revision 1: " + problem.getMessage());
            }
        }
    }

    @Override
    protected void lapse() {
        endAttempt();
        if (mpa != null) {
            mpa.startupTimeout();
        }
    }

    @Override
    protected void giveUp() {
        endAttempt();
        if (mpa != null) {
            mpa.abort();
        }
    }

    /** Cancels a TCP connection attempt, which otherwise lasts until the operating system gives up. */
    private void endAttempt() {
        if (attempt != null) {
            attempt.cancel(false);
        }
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        MpaConnection connection = mpa;
        TcpTransport below = transport;
        if (connection == null || below == null || isOver()) {
            return;
        }
        try {
            holdOutput(connection);
            RdmapStream stream = attachStream(queuePair(), connection, agreed.ird(), agreed.ord(), connection::attach);
            established(stream, agreed.error(), agreed.peer(), agreed.rtr(), attributes(below, agreed, stream, true));
        } catch (RuntimeException | Error e) {
            failHere(e);
        }
    }

    private void holdOutput(MpaConnection connection) {
        Duration delay = device().settings().firstFpduDelay();
        if (delay.isPositive()) {
            connection.holdOutput();
            queuePair().loop().schedule(connection::releaseOutput, delay.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void onRejected(MpaStartup reply) {
        rejected(reply.privateData(), reply.peer());
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        failed(reason, message);
    }
}
