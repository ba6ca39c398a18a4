// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.LlpError;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.ReadDepths;
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
    /** In force until the application answers. */
    private final MpaOptions options;

    private final MpaConnection mpa;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private final CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
    private @Nullable MpaStartup request;
    private Phase phase = Phase.WAITING_FOR_REQUEST;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable SoftwareQueuePair queuePair;

    IncomingSetup(SoftwareDevice device, SoftwareListener listener, TcpTransport transport) {
        super(device);
        this.listener = listener;
        this.transport = transport;
        this.remote = transport.remoteAddress();
        this.local = transport.localAddress();
        this.options = MpaOptions.defaults()
                .withPolicy(listener.mpa())
                .withDepths(
                        maxDepth(device.settings().maxIrd()),
                        maxDepth(device.settings().maxOrd()));
        this.mpa = new MpaConnection(MpaRole.RESPONDER, options, transport, this);
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
    public void onRequest(MpaStartup asked) {
        stopTimer();
        request = asked;
        phase = Phase.WAITING_FOR_ANSWER;
        if (listener.onRequest(this)) {
            startTimer();
            listener.deliver(this);
        } else {
            phase = Phase.OVER;
            mpa.reject(options);
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
        return requireRequest().privateData().clone();
    }

    @Override
    public int mpaRevision() {
        return requireRequest().revision();
    }

    @Override
    public ReadDepths peerDepths() {
        return depthsOfPeer(requireRequest());
    }

    /** There is one when the application knows of this. */
    private MpaStartup requireRequest() {
        MpaStartup asked = request;
        if (asked == null) {
            throw new IllegalStateException("no MPA Request yet");
        }
        return asked;
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
            result.completeExceptionally(lapsed());
            return;
        }
        MpaStartup asked = requireRequest();
        ConnectionFailedException problem = checkPrivateData(wanted.privateData(), asked.replyRoom());
        if (problem == null) {
            problem = MpaConnection.refusal(wanted.mpa(), asked)
                    .map(refusal -> new ConnectionFailedException(Kind.INVALID_PARAMETERS, refusal))
                    .orElse(null);
        }
        if (problem != null) {
            result.completeExceptionally(problem);
            return;
        }
        if (!software.beginAccept(transport.loop(), this)) {
            result.completeExceptionally(new IllegalStateException("queue pair " + software.number() + " is not IDLE"));
            return;
        }
        answered();
        queuePair = software;
        mpa.accept(mpaOptions(wanted));
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason) {
        return reject(reason, options.ord());
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason, int requiredOrd) {
        byte[] copy = reason.clone();
        CompletableFuture<Void> rejected = new CompletableFuture<>();
        transport.loop().execute(() -> {
            ConnectionFailedException problem = phase == Phase.WAITING_FOR_ANSWER
                    ? checkPrivateData(copy, requireRequest().replyRoom())
                    : lapsed();
            if (problem == null) {
                rejectOnLoop(options.withPrivateData(copy)
                        .withDepths(options.ird(), Math.min(requiredOrd, MpaOptions.MAX_DEPTH)));
                rejected.complete(null);
            } else {
                rejected.completeExceptionally(problem);
            }
        });
        return rejected;
    }

    private void rejectOnLoop(MpaOptions chosen) {
        answered();
        phase = Phase.OVER;
        mpa.reject(chosen);
    }

    private ConnectionFailedException lapsed() {
        return new ConnectionFailedException(
                Kind.TIMEOUT, "the connection request of " + remote + " has lapsed or was answered before");
    }

    private void answered() {
        stopTimer();
        phase = Phase.ANSWERED;
        listener.onAnswered();
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        SoftwareQueuePair software = queuePair;
        if (software == null || phase != Phase.ANSWERED) {
            return;
        }
        phase = Phase.OVER;
        RdmapStream stream = attachStream(software, mpa, agreed);
        if (agreed.rtrBySend()) {
            stream.expectReadySend();
        }
        result.complete(establish(software, stream, transport, agreed, false));
    }

    @Override
    public void onRejected(MpaStartup reply) {
        throw new IllegalStateException("a Responder gets no Reply");
    }

    @Override
    public void onUnenhancedPeer(String message) {
        throw new IllegalStateException("a Responder asks for nothing");
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
            rejectOnLoop(options);
        }
    }

    @Override
    void abort() {
        onStartupFailed(LlpError.CONNECTION_LOST, "closed during set-up");
        mpa.abort();
    }
}
