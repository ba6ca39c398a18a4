// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.net.LoopTimer;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.RtrKind;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sets up a connection from this side. Belongs to the queue pair's event loop. */
public abstract class OutgoingSetup extends ConnectionSetup {

    private final SoftwareQueuePair queuePair;
    private final ConnectionParameters parameters;
    private final CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
    private final LoopTimer timer;
    private final LoopTimer reachTimer;
    private List<InetSocketAddress> remotes;
    private boolean over;

    protected OutgoingSetup(
            SoftwareDevice device,
            SoftwareQueuePair queuePair,
            List<InetSocketAddress> remotes,
            ConnectionParameters parameters) {
        super(device);
        this.queuePair = queuePair;
        this.remotes = remotes;
        this.parameters = parameters;
        this.timer = new LoopTimer(queuePair.loop(), this::onTimeout);
        this.reachTimer = new LoopTimer(queuePair.loop(), this::onUnreached);
    }

    protected final SoftwareQueuePair queuePair() {
        return queuePair;
    }

    /** Returns the peer's addresses. After the peer was reached, returns only the address that was reached. */
    protected final List<InetSocketAddress> remotes() {
        return remotes;
    }

    /** Returns the address at which the peer was reached, or the preferred address. */
    protected final InetSocketAddress remote() {
        return remotes.getFirst();
    }

    /** Describes the peer in messages. */
    private String peer() {
        return remotes.stream().map(InetSocketAddress::toString).collect(Collectors.joining(", "));
    }

    protected final ConnectionParameters parameters() {
        return parameters;
    }

    protected final boolean isOver() {
        return over;
    }

    CompletableFuture<ConnectionAttributes> result() {
        return result;
    }

    void start() {
        try {
            begin();
        } catch (RuntimeException | Error e) {
            failHere(e);
        }
    }

    private void begin() {
        byte[] privateData = parameters.privateData();
        ConnectionFailedException problem = check(device().settings(), parameters);
        if (problem == null) {
            problem = checkPrivateData(privateData, MpaOptions.MAX_PRIVATE_DATA);
        }
        if (problem != null) {
            fail(problem);
            return;
        }
        MpaOptions options = options(parameters);
        problem = checkPrivateData(privateData, options.requestRoom());
        if (problem != null) {
            fail(problem);
            return;
        }
        timer.start(parameters.timeout());
        if (parameters.reachTimeout().compareTo(parameters.timeout()) < 0) {
            reachTimer.start(parameters.reachTimeout());
        }
        connect(options);
    }

    /** Begins, after the options were checked. */
    protected abstract void connect(MpaOptions options);

    /** Ends what was begun, because nobody needs it any more. */
    protected abstract void giveUp();

    /** Ends what was begun, because the peer did not answer in time. */
    protected abstract void lapse();

    private void onTimeout() {
        if (over) {
            return;
        }
        fail(new ConnectionFailedException(
                Kind.TIMEOUT,
                "no answer from " + peer() + " within " + parameters.timeout().toMillis()
                        + " ms; the peer may not speak iWARP on " + parameters.llp()
                        + ", or its application does not answer"));
        lapse();
    }

    private void onUnreached() {
        if (over) {
            return;
        }
        fail(new ConnectionFailedException(
                Kind.NO_ANSWER,
                "nothing from " + peer() + " within "
                        + parameters.reachTimeout().toMillis()
                        + " ms; check the address, and the routes and firewalls on the way to it"));
        lapse();
    }

    /** Records the address that was reached. No other address is tried, and the peer gets the rest of the time-out. */
    protected final void reached(InetSocketAddress remote) {
        remotes = List.of(remote);
        reachTimer.stop();
    }

    /**
     * Handles the peer's acceptance.
     *
     * @param error the reason why the acceptance cannot be used, or null (RFC 6581 section 9)
     * @param rtr the ready-to-receive indication to send first, or null
     * @param agreed attributes for the queue pair
     */
    protected final void established(
            RdmapStream stream,
            @Nullable LlpError error,
            @Nullable EnhancedData peer,
            @Nullable RtrKind rtr,
            ConnectionAttributes agreed) {
        end();
        if (error != null) {
            queuePair.onRefused(stream);
            result.completeExceptionally(startupFailure(remote(), error, refusal(error, peer)));
            return;
        }
        if (rtr != null) {
            stream.indicateReady(rtr);
        }
        queuePair.onEstablished(stream, agreed);
        result.complete(agreed);
    }

    protected final void rejected(byte[] privateData, @Nullable EnhancedData peer) {
        if (!over) {
            end();
            queuePair.onSetupFailed("rejected by the peer");
            result.completeExceptionally(new PeerRejectedException(
                    "the application at " + remote() + " rejected the connection", privateData, depths(peer)));
        }
    }

    /** Fails because the peer went away or refused. */
    protected final void failed(String message) {
        failed(LlpError.CONNECTION_LOST, message);
    }

    protected final void failed(LlpError reason, String message) {
        fail(startupFailure(remote(), reason, message));
    }

    @Override
    protected void abort() {
        fail(new ConnectionFailedException(Kind.ABORTED, "the connection to " + peer() + " was closed during set-up"));
        giveUp();
    }

    /** Fails because of a fault on this side, and ends what was begun. */
    protected final void failHere(Throwable fault) {
        fail(failureHere(remote(), fault));
        giveUp();
        device().loops().onFault(fault);
    }

    protected final void fail(ConnectionFailedException failure) {
        if (!over) {
            end();
            queuePair.onSetupFailed(String.valueOf(failure.getMessage()));
            result.completeExceptionally(failure);
        }
    }

    private void end() {
        over = true;
        timer.stop();
        reachTimer.stop();
    }
}
