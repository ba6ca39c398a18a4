// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.net.LoopTimer;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sets up a connection that the peer begins. It becomes a connection request for the application. Belongs to the
 * connection's event loop; the application may answer from any thread.
 */
public abstract class IncomingSetup extends ConnectionSetup implements ConnectionRequest {

    /** Phase of the set-up. */
    private enum Phase {
        WAITING_FOR_REQUEST,
        WAITING_FOR_ANSWER,
        ANSWERED,
        OVER
    }

    private final SoftwareListener listener;
    private final EventLoop loop;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private final MpaOptions options;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private Phase phase = Phase.WAITING_FOR_REQUEST;
    private final LoopTimer timer;
    private @Nullable Acceptance acceptance;

    /** The accept call that answers the request. */
    private record Acceptance(SoftwareQueuePair queuePair, CompletableFuture<ConnectionAttributes> result) {}

    protected IncomingSetup(
            SoftwareDevice device,
            SoftwareListener listener,
            EventLoop loop,
            InetSocketAddress remote,
            InetSocketAddress local) {
        super(device);
        this.listener = listener;
        this.loop = loop;
        this.remote = remote;
        this.local = local;
        this.timer = new LoopTimer(loop, this::onTimeout);
        this.options = MpaOptions.defaults()
                .withPolicy(listener.attributes().mpa())
                .withDepths(
                        maxDepth(device.settings().maxIrd()),
                        maxDepth(device.settings().maxOrd()));
    }

    /** Returns the options in force until the application answers. */
    MpaOptions options() {
        return options;
    }

    /**
     * Returns options for a rejection that is not about RDMA Reads. The ORD is at most what the peer serves (RFC 6581
     * section 9.1).
     */
    MpaOptions rejection() {
        int served = peerDepths().ird().orElse(options.ord());
        return options.withDepths(options.ird(), Math.min(options.ord(), served));
    }

    SecurityPolicy security() {
        return listener.attributes().security();
    }

    void startTimer() {
        timer.start(listener.attributes().startupTimeout());
    }

    private void onTimeout() {
        if (phase == Phase.WAITING_FOR_REQUEST || phase == Phase.WAITING_FOR_ANSWER) {
            onLapse();
        }
    }

    /**
     * Asks the application about the complete request. Returns false if the application can take no more requests at
     * present.
     */
    public final boolean ask() {
        timer.stop();
        if (!listener.onRequest(this)) {
            phase = Phase.OVER;
            return false;
        }
        phase = Phase.WAITING_FOR_ANSWER;
        startTimer();
        try {
            listener.deliver(this);
        } catch (RuntimeException | Error e) {
            device().loops().onFault(e);
            withdraw();
        }
        return true;
    }

    /**
     * Rejects a request that the policy about security does not permit. The application is not asked.
     *
     * @param message text for people of this side
     */
    final void deny(SecurityDenial reason, String message) {
        endDenied(reason, message);
        byte[] told = reason.reason();
        answer(rejection().withPrivateData(told.length <= replyRoom() ? told : new byte[0]));
    }

    /** Ends because of a denial that the peer knows already. */
    final void endDenied(SecurityDenial reason, String message) {
        timer.stop();
        phase = Phase.OVER;
        listener.onDenied(remote, reason, message);
    }

    /** Handles a request, or an answer, that did not come in time. Ends in {@link #failed}. */
    protected abstract void onLapse();

    /** Refuses the request in place of the application, which has not answered. Runs on the event loop. */
    protected abstract void refuseOnLoop();

    /** Returns why the request does not permit a connection with these parameters, or null. */
    protected abstract @Nullable String refusalOf(ConnectionParameters wanted);

    protected abstract void answer(ConnectionParameters accepted);

    /** @param rejection private data of the rejection, and depths that would be accepted */
    protected abstract void answer(MpaOptions rejection);

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public CompletableFuture<Void> over() {
        return over;
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
        CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
        loop.execute(() -> acceptOnLoop(software, wanted, result));
        return result;
    }

    private void acceptOnLoop(
            SoftwareQueuePair software, ConnectionParameters wanted, CompletableFuture<ConnectionAttributes> result) {
        if (phase != Phase.WAITING_FOR_ANSWER) {
            result.completeExceptionally(lapsed());
            return;
        }
        ConnectionFailedException problem = checkPrivateData(wanted.privateData(), replyRoom());
        String refusal = wanted.security().security() == TlsUse.REQUIRED && tls().isEmpty()
                ? "security is `required`, and the peer connected without TLS; reject the request"
                : refusalOf(wanted);
        if (problem == null && refusal != null) {
            problem = new ConnectionFailedException(Kind.INVALID_PARAMETERS, refusal);
        }
        if (problem != null) {
            result.completeExceptionally(problem);
            return;
        }
        if (!software.beginAccept(loop, this)) {
            result.completeExceptionally(new IllegalStateException("queue pair " + software.number() + " is not IDLE"));
            return;
        }
        acceptance = new Acceptance(software, result);
        try {
            answered();
            answer(wanted);
        } catch (RuntimeException | Error e) {
            failedHere(e);
        }
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason) {
        return reject(reason, rejection());
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason, int requiredOrd) {
        return reject(reason, options.withDepths(options.ird(), Math.min(requiredOrd, MpaOptions.MAX_DEPTH)));
    }

    private CompletableFuture<Void> reject(byte[] reason, MpaOptions chosen) {
        byte[] copy = reason.clone();
        CompletableFuture<Void> rejected = new CompletableFuture<>();
        loop.execute(() -> {
            ConnectionFailedException problem =
                    phase == Phase.WAITING_FOR_ANSWER ? checkPrivateData(copy, replyRoom()) : lapsed();
            if (problem != null) {
                rejected.completeExceptionally(problem);
                return;
            }
            try {
                rejectOnLoop(chosen.withPrivateData(copy));
                rejected.complete(null);
            } catch (RuntimeException | Error e) {
                drop();
                device().loops().onFault(e);
                rejected.completeExceptionally(failureHere(remote, e));
            }
        });
        return rejected;
    }

    private void rejectOnLoop(MpaOptions chosen) {
        answered();
        phase = Phase.OVER;
        answer(chosen);
    }

    /** Ends the TCP connection, or the session, of this set-up at once. Nobody waits for it any more. */
    protected abstract void drop();

    private ConnectionFailedException lapsed() {
        return new ConnectionFailedException(
                Kind.LAPSED, "the connection request of " + remote + " has lapsed or was answered before");
    }

    private void answered() {
        timer.stop();
        phase = Phase.ANSWERED;
        waitsNoMore();
    }

    /**
     * Gives the place in the backlog back. First completes {@link #over}, so that the application sees this end before
     * a request that gets the place.
     */
    private void waitsNoMore() {
        over.complete(null);
        listener.onAnswered();
    }

    /**
     * Returns the queue pair that accepted, when RDMA mode begins. Returns null if RDMA mode must not begin any more.
     */
    @Nullable
    protected final SoftwareQueuePair acceptedBy() {
        return phase != Phase.ANSWERED || acceptance == null ? null : acceptance.queuePair();
    }

    /** Tells the queue pair that RDMA mode has begun. */
    protected final void established(SoftwareQueuePair acceptedBy, RdmapStream stream, ConnectionAttributes agreed) {
        phase = Phase.OVER;
        acceptedBy.onEstablished(stream, agreed);
        if (acceptance != null) {
            acceptance.result().complete(agreed);
        }
    }

    /** Fails because of a fault on this side, at the answer or when RDMA mode began. */
    protected final void failedHere(Throwable fault) {
        ConnectionFailedException failure = failureHere(remote, fault);
        failed(String.valueOf(failure.getMessage()), failure);
        drop();
        device().loops().onFault(fault);
    }

    /** Fails because of the peer or a time-out. */
    protected final void failed(String message) {
        failed(LlpError.CONNECTION_LOST, message);
    }

    /** Fails like {@link #failed(String)}, for a reason of the lower layer. */
    protected final void failed(LlpError reason, String message) {
        failed(message, startupFailure(remote, reason, message));
    }

    private void failed(String message, ConnectionFailedException failure) {
        timer.stop();
        Phase before = phase;
        phase = Phase.OVER;
        switch (before) {
            case WAITING_FOR_REQUEST -> listener.onFailedBeforeRequest(remote, message);
            case WAITING_FOR_ANSWER -> {
                waitsNoMore();
                device().events().onStartupFailed(remote, message);
            }
            case ANSWERED -> {
                Acceptance taken = acceptance;
                if (taken != null) {
                    taken.queuePair().onSetupFailed(message);
                    taken.result().completeExceptionally(failure);
                }
            }
            case OVER -> {}
        }
    }

    /** Returns whether the listener may forget this set-up. */
    boolean isOver() {
        return phase == Phase.OVER || phase == Phase.ANSWERED;
    }

    /** Refuses the request if it has no answer, because the listener closes. Runs on the event loop. */
    void withdraw() {
        if (phase == Phase.WAITING_FOR_REQUEST) {
            abort();
        } else if (phase == Phase.WAITING_FOR_ANSWER) {
            answered();
            phase = Phase.OVER;
            refuseOnLoop();
        }
    }

    /**
     * Returns whether the request is not complete yet. Runs on the event loop, like {@link #cameToNothing} and {@link
     * #giveWay}.
     */
    boolean waitsForRequest() {
        return phase == Phase.WAITING_FOR_REQUEST;
    }

    /** Returns whether this set-up, which is not established, has failed or was rejected. */
    boolean cameToNothing() {
        return phase == Phase.OVER;
    }

    /**
     * Ends to give its place to another set-up. The application was not asked about this one, or this one has failed
     * before.
     */
    void giveWay() {
        phase = Phase.OVER;
        listener.onGivenWay(this);
        abort();
    }

    @Override
    public void refuse() {
        loop.execute(() -> {
            if (phase == Phase.WAITING_FOR_ANSWER) {
                withdraw();
            }
        });
    }
}
