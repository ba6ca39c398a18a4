// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.ReadDepths;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A peer's request to connect, and the connection until it is established. Runs on the loop, except the methods that
 * the application calls.
 *
 * <pre>
 *   WAITING --> ACCEPTED --> OVER   established, or it failed
 *   WAITING --> OVER                rejected, refused, lapsed
 * </pre>
 */
final class KernelConnectionRequest implements ConnectionRequest, KernelQueuePair.Connecting {

    private enum Phase {
        WAITING,
        ACCEPTED,
        OVER
    }

    /** The queue pair of the accept call, and the result for the caller. */
    private record Acceptance(
            KernelQueuePair queuePair,
            ConnectionParameters parameters,
            CompletableFuture<ConnectionAttributes> result) {}

    private final KernelDevice device;
    private final KernelListener listener;
    private final CmId id;
    private final CmEvent event;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private Phase phase = Phase.WAITING;
    private VerbsLoop.@Nullable Timer timer;
    private @Nullable Acceptance acceptance;

    KernelConnectionRequest(KernelDevice device, KernelListener listener, CmEvent event) {
        this.device = device;
        this.listener = listener;
        this.event = event;
        this.id = device.channel().adopt(event.id(), this::onEvent);
        this.local = id.localAddress();
        this.remote = id.remoteAddress();
    }

    /**
     * Returns whether the request arrived at this device. A listener without an address gets the requests of all
     * devices.
     */
    boolean isOfDevice() {
        return id.context() == device.context();
    }

    /** @param time limit for the answer and the establishment together */
    void startTimer(Duration time) {
        timer = device.loop().schedule(time, this::onTimeout);
    }

    private void onTimeout() {
        if (phase == Phase.WAITING) {
            refuseOnLoop();
        } else if (phase == Phase.ACCEPTED) {
            fail(new ConnectionFailedException(Kind.TIMEOUT, remote + " did not complete the connection in time"));
        }
    }

    private void onEvent(CmEvent told) {
        switch (told.kind()) {
            case ESTABLISHED -> onEstablished();
            case DISCONNECTED, CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> onGone(told);
            default -> {}
        }
    }

    private void onEstablished() {
        Acceptance taken = acceptance;
        if (phase != Phase.ACCEPTED || taken == null) {
            return;
        }
        // Computes the attributes first: if this fails, the timer still ends the set-up.
        ConnectionAttributes agreed =
                KernelParameters.agreed(id, false, taken.parameters(), event.privateData(), event.depths());
        endPhase(Phase.OVER);
        if (taken.queuePair().onEstablished(id, agreed)) {
            taken.result().complete(agreed);
        }
    }

    private void onGone(CmEvent told) {
        switch (phase) {
            case WAITING -> {
                answered(Phase.OVER);
                id.destroy();
            }
            case ACCEPTED -> fail(new ConnectionFailedException(Kind.PROTOCOL, remote + " went away during start-up"));
            case OVER -> {
                if (acceptance != null) {
                    acceptance
                            .queuePair()
                            .onDisconnected(told.kind() == CmEvent.Kind.DISCONNECTED && told.status() == 0);
                }
            }
        }
    }

    private void fail(ConnectionFailedException failure) {
        endPhase(Phase.OVER);
        Acceptance taken = acceptance;
        if (taken != null) {
            taken.result().completeExceptionally(failure);
            taken.queuePair().onSetupFailed(String.valueOf(failure.getMessage()));
        }
    }

    private void answered(Phase next) {
        phase = next;
        listener.onAnswered(this);
        over.complete(null);
        if (next == Phase.OVER) {
            endPhase(next);
        }
    }

    private void endPhase(Phase next) {
        phase = next;
        if (timer != null) {
            timer.cancel();
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
        return event.privateData().clone();
    }

    /** Returns 1, because the connection manager does not report the revision. */
    @Override
    public int mpaRevision() {
        return 1;
    }

    @Override
    public ReadDepths peerDepths() {
        return event.depths();
    }

    @Override
    public int replyRoom() {
        return KernelDevice.MAX_PRIVATE_DATA;
    }

    @Override
    public CompletableFuture<Void> over() {
        return over;
    }

    @Override
    public CompletableFuture<ConnectionAttributes> accept(QueuePair queuePair, ConnectionParameters parameters) {
        if (!(queuePair instanceof KernelQueuePair own)) {
            return CompletableFuture.failedFuture(
                    new IllegalArgumentException("the queue pair belongs to another provider"));
        }
        ConnectionFailedException problem = KernelParameters.problem(device, parameters);
        if (problem != null) {
            return CompletableFuture.failedFuture(problem);
        }
        CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
        device.loop().execute(() -> acceptOnLoop(new Acceptance(own, parameters, result)));
        return result;
    }

    private void acceptOnLoop(Acceptance wanted) {
        KernelQueuePair queuePair = wanted.queuePair();
        if (phase != Phase.WAITING) {
            wanted.result().completeExceptionally(lapsed());
            return;
        }
        if (!queuePair.beginAccept(this)) {
            wanted.result()
                    .completeExceptionally(
                            new IllegalStateException("queue pair " + queuePair.number() + " is not IDLE"));
            return;
        }
        acceptance = wanted;
        answered(Phase.ACCEPTED);
        int returned = id.accept(wanted.parameters(), queuePair.qpNumber(), queuePair.isShared());
        if (returned < 0) {
            fail(KernelErrors.connecting(remote, returned));
        }
    }

    @Override
    public CompletableFuture<Void> reject(byte[] reason) {
        byte[] copy = reason.clone();
        CompletableFuture<Void> rejected = new CompletableFuture<>();
        device.loop().execute(() -> {
            ConnectionFailedException problem = phase == Phase.WAITING ? KernelParameters.problem(copy) : lapsed();
            if (problem == null) {
                rejectOnLoop(copy);
                rejected.complete(null);
            } else {
                rejected.completeExceptionally(problem);
            }
        });
        return rejected;
    }

    /** Rejects without the required ORD, which the connection manager cannot send to the peer. */
    @Override
    public CompletableFuture<Void> reject(byte[] reason, int requiredOrd) {
        return reject(reason);
    }

    private void rejectOnLoop(byte[] reason) {
        answered(Phase.OVER);
        int ignored = id.reject(reason);
        id.destroy();
    }

    private ConnectionFailedException lapsed() {
        return new ConnectionFailedException(
                Kind.LAPSED, "the connection request of " + remote + " has lapsed or was answered before");
    }

    @Override
    public void refuse() {
        device.loop().execute(this::refuseOnLoop);
    }

    void refuseOnLoop() {
        if (phase == Phase.WAITING) {
            rejectOnLoop(new byte[0]);
        }
    }

    /** Ends the set-up because the queue pair gives up. */
    @Override
    public void abort() {
        Acceptance taken = acceptance;
        endPhase(Phase.OVER);
        if (taken != null) {
            taken.result().completeExceptionally(new ConnectionFailedException(Kind.ABORTED, "this side gave up"));
            taken.queuePair().destroy();
        }
        id.destroy();
    }
}
