// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.mpa.EnhancedData;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.QueuePair;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Set-up of a connection from the other side: MPA as Responder, which becomes a connection request for the application.
 * Lives on the connection's event loop; the application may answer from any thread.
 */
final class IncomingSetup extends ConnectionSetup implements MpaStartupListener, ConnectionRequest {

    /** Where it stands. */
    private enum Phase {
        WAITING_FOR_REQUEST,
        WAITING_FOR_ANSWER,
        ANSWERED,
        OVER
    }

    private final SoftwareListener listener;
    private final TcpTransport transport;
    private final MpaConnection mpa;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private final CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
    private byte[] privateData = {};
    private boolean enhanced;
    private Phase phase = Phase.WAITING_FOR_REQUEST;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable SoftwareQueuePair queuePair;
    private @Nullable ConnectionParameters parameters;

    IncomingSetup(SoftwareDevice device, SoftwareListener listener, TcpTransport transport) {
        super(device);
        this.listener = listener;
        this.transport = transport;
        this.remote = transport.remoteAddress();
        this.local = transport.localAddress();
        this.mpa = new MpaConnection(MpaRole.RESPONDER, MpaOptions.defaults(), transport, this);
        transport.bind(mpa);
    }

    void start() {
        startTimer();
        mpa.start();
    }

    private void startTimer() {
        timer = transport
                .loop()
                .schedule(this::onTimeout, listener.startupTimeout().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void onTimeout() {
        if (phase == Phase.WAITING_FOR_REQUEST || phase == Phase.WAITING_FOR_ANSWER) {
            mpa.startupTimeout();
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    public void onRequest(MpaStartup request) {
        stopTimer();
        privateData = request.privateData();
        enhanced = request.peer() != null;
        phase = Phase.WAITING_FOR_ANSWER;
        if (listener.onRequest(this)) {
            startTimer();
            listener.deliver(this);
        } else {
            phase = Phase.OVER;
            mpa.reject(new byte[0]);
        }
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public CompletableFuture<ConnectionAttributes> accept(QueuePair acceptedBy, ConnectionParameters wanted) {
        if (!(acceptedBy instanceof SoftwareQueuePair software)) {
            return CompletableFuture.failedFuture(
                    new IllegalArgumentException("the queue pair belongs to another provider"));
        }
        ConnectionFailedException problem = check(device().settings(), wanted);
        if (problem != null) {
            return CompletableFuture.failedFuture(problem);
        }
        transport.loop().execute(() -> acceptOnLoop(software, wanted));
        return result;
    }

    private void acceptOnLoop(SoftwareQueuePair software, ConnectionParameters wanted) {
        if (phase != Phase.WAITING_FOR_ANSWER) {
            result.completeExceptionally(new ConnectionFailedException(
                    Kind.TIMEOUT, "the connection request of " + remote + " has lapsed or was answered before"));
            return;
        }
        if (enhanced && wanted.privateData().length > MpaOptions.MAX_PRIVATE_DATA - EnhancedData.LENGTH) {
            result.completeExceptionally(new ConnectionFailedException(
                    Kind.INVALID_PARAMETERS,
                    "private data of " + wanted.privateData().length + " octets; the peer's revision of MPA leaves "
                            + (MpaOptions.MAX_PRIVATE_DATA - EnhancedData.LENGTH)));
            return;
        }
        if (!software.beginAccept(transport.loop(), this)) {
            result.completeExceptionally(new IllegalStateException("queue pair " + software.number() + " is not IDLE"));
            return;
        }
        answered();
        queuePair = software;
        parameters = wanted;
        mpa.accept(mpaOptions(wanted));
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason) {
        if (reason.length > MpaOptions.MAX_PRIVATE_DATA) {
            return CompletableFuture.failedFuture(new ConnectionFailedException(
                    Kind.INVALID_PARAMETERS,
                    "private data of " + reason.length + " octets; at most " + MpaOptions.MAX_PRIVATE_DATA
                            + " can be carried"));
        }
        byte[] copy = reason.clone();
        CompletableFuture<Void> rejected = new CompletableFuture<>();
        transport.loop().execute(() -> {
            if (enhanced && copy.length > MpaOptions.MAX_PRIVATE_DATA - EnhancedData.LENGTH) {
                rejected.completeExceptionally(new ConnectionFailedException(
                        Kind.INVALID_PARAMETERS,
                        "private data of " + copy.length + " octets; the peer's revision of MPA leaves "
                                + (MpaOptions.MAX_PRIVATE_DATA - EnhancedData.LENGTH)));
            } else if (phase == Phase.WAITING_FOR_ANSWER) {
                answered();
                phase = Phase.OVER;
                mpa.reject(copy);
                rejected.complete(null);
            } else {
                rejected.completeExceptionally(new ConnectionFailedException(
                        Kind.TIMEOUT, "the connection request of " + remote + " has lapsed or was answered before"));
            }
        });
        return rejected;
    }

    private void answered() {
        stopTimer();
        phase = Phase.ANSWERED;
        listener.onAnswered();
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        SoftwareQueuePair software = queuePair;
        ConnectionParameters wanted = parameters;
        if (software == null || wanted == null || phase != Phase.ANSWERED) {
            return;
        }
        phase = Phase.OVER;
        result.complete(establish(software, mpa, transport, agreed, wanted, false));
    }

    @Override
    public void onRejected(byte[] reason) {
        throw new IllegalStateException("a Responder gets no Reply");
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        stopTimer();
        Phase before = phase;
        phase = Phase.OVER;
        switch (before) {
            case WAITING_FOR_REQUEST -> listener.onFailedBeforeRequest(remote, message);
            case WAITING_FOR_ANSWER -> {
                listener.onAnswered();
                device().events().onStartupFailed(remote, message);
            }
            case ANSWERED -> {
                if (queuePair != null) {
                    queuePair.onSetupFailed(message);
                }
                result.completeExceptionally(new ConnectionFailedException(
                        Kind.PROTOCOL, "start-up with " + remote + " failed: " + message));
            }
            case OVER -> {}
        }
    }

    /** True when the listener need not know it any more. */
    boolean isOver() {
        return phase == Phase.OVER || phase == Phase.ANSWERED;
    }

    /** Rejects if no answer was given; for a listener that closes. On the event loop. */
    void withdraw() {
        if (phase == Phase.WAITING_FOR_REQUEST) {
            abort();
        } else if (phase == Phase.WAITING_FOR_ANSWER) {
            answered();
            phase = Phase.OVER;
            mpa.reject(new byte[0]);
        }
    }

    @Override
    void abort() {
        onStartupFailed(LlpError.CONNECTION_LOST, "closed during set-up");
        mpa.abort();
    }
}
