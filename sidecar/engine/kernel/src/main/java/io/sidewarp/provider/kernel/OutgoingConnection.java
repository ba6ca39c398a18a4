// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.ReadDepths;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this side begins. Runs on the loop, except the call to connect. That call may return only after TCP
 * has connected or has given up.
 *
 * <pre>
 *   address resolved --> route resolved --> connecting --> established
 * </pre>
 */
final class OutgoingConnection implements KernelQueuePair.Connecting {

    private final KernelDevice device;
    private final KernelQueuePair queuePair;
    private final InetSocketAddress remote;
    private final ConnectionParameters parameters;
    private final CompletableFuture<ConnectionAttributes> result;
    private @Nullable CmId id;
    private VerbsLoop.@Nullable Timer timer;
    private boolean over;
    /** True while the call to connect has not returned. */
    private boolean busy;

    /** True after the queue pair has ended. */
    private boolean abandoned;

    OutgoingConnection(
            KernelDevice device,
            KernelQueuePair queuePair,
            InetSocketAddress remote,
            ConnectionParameters parameters,
            CompletableFuture<ConnectionAttributes> result) {
        this.device = device;
        this.queuePair = queuePair;
        this.remote = remote;
        this.parameters = parameters;
        this.result = result;
    }

    void start() {
        ConnectionFailedException problem = KernelParameters.problem(device, parameters);
        if (problem == null && remote.isUnresolved()) {
            problem = new ConnectionFailedException(
                    Kind.UNREACHABLE, "the name " + remote.getHostString() + " cannot be resolved");
        }
        if (problem != null) {
            fail(problem);
            return;
        }
        try {
            id = device.channel().create(this::onEvent);
        } catch (IllegalStateException e) {
            fail(new ConnectionFailedException(Kind.INTERNAL, String.valueOf(e.getMessage()), e));
            return;
        }
        timer = device.loop()
                .schedule(
                        parameters.timeout(),
                        () -> fail(new ConnectionFailedException(
                                Kind.TIMEOUT,
                                remote + " did not answer within "
                                        + parameters.timeout().toMillis() + " ms")));
        check(id.resolveAddress(remote, parameters.reachTimeout()));
    }

    private void check(int returned) {
        if (returned < 0) {
            fail(KernelErrors.connecting(remote, returned));
        }
    }

    private void onEvent(CmEvent event) {
        CmId current = id;
        if (current == null) {
            return;
        }
        if (over) {
            if (event.kind() == CmEvent.Kind.DISCONNECTED) {
                queuePair.onDisconnected(event.status() == 0);
            }
            return;
        }
        switch (event.kind()) {
            case ADDR_RESOLVED -> onAddress(current);
            case ROUTE_RESOLVED -> onRoute(current);
            case ESTABLISHED -> onEstablished(current, event);
            case REJECTED ->
                fail(new PeerRejectedException(
                        remote + " rejected the connection", event.privateData(), ReadDepths.UNKNOWN));
            case ADDR_ERROR, ROUTE_ERROR, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL ->
                fail(KernelErrors.connecting(remote, event.status() < 0 ? event.status() : -LinuxErrno.EAGAIN));
            case DISCONNECTED ->
                fail(new ConnectionFailedException(Kind.PROTOCOL, remote + " closed the connection during start-up"));
            default -> {}
        }
    }

    private void onAddress(CmId current) {
        if (current.context() == device.context()) {
            check(current.resolveRoute(parameters.reachTimeout()));
        } else {
            fail(new ConnectionFailedException(
                    Kind.UNREACHABLE,
                    "the route to " + remote + " does not use the RDMA device " + device.name()
                            + "; use an address in the network of its interface"));
        }
    }

    private void onRoute(CmId current) {
        busy = true;
        device.runBlocking(() -> {
            int returned = current.connect(parameters, queuePair.qpNumber(), queuePair.isShared());
            device.loop().execute(() -> onReturned(returned));
        });
    }

    private void onReturned(int returned) {
        busy = false;
        if (abandoned) {
            release();
        } else if (!over) {
            check(returned);
        }
    }

    private void onEstablished(CmId current, CmEvent event) {
        // Ignores the depths in the answer, because drivers do not agree on whose depths these are. The device itself
        // uses the right ones. Computes the attributes before the timer ends: if this fails, the timer still ends the
        // set-up.
        ConnectionAttributes agreed =
                KernelParameters.agreed(current, true, parameters, event.privateData(), ReadDepths.UNKNOWN);
        end();
        if (queuePair.onEstablished(current, agreed)) {
            result.complete(agreed);
        }
    }

    private void fail(Exception failure) {
        if (!over) {
            end();
            result.completeExceptionally(failure);
            queuePair.onSetupFailed(String.valueOf(failure.getMessage()));
        }
    }

    private void end() {
        over = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    @Override
    public void abort() {
        end();
        abandoned = true;
        result.completeExceptionally(new ConnectionFailedException(Kind.ABORTED, "this side gave up connecting"));
        if (!busy) {
            release();
        }
    }

    private void release() {
        queuePair.destroy();
        if (id != null) {
            id.destroy();
        }
    }
}
