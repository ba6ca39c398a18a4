// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.LoopTimer;
import io.sidewarp.engine.net.SystemErrors;
import io.sidewarp.engine.net.TcpRace;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.net.TlsListener;
import io.sidewarp.engine.net.TlsStart;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.net.tls.TlsFailure;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.TlsAttributes;
import io.sidewarp.engine.verbs.TlsUse;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sets up a connection from this side: TCP, then TLS where it is wanted, then MPA as Initiator. A connection that only
 * prefers TLS continues without it on a second TCP connection when the peer does not speak TLS.
 */
final class OutgoingTcpSetup extends OutgoingSetup implements MpaStartupListener {

    /** Part of the time-out after which a peer that answers nothing to TLS counts as a peer without TLS. */
    private static final int SILENCE_DIVISOR = 2;

    private @Nullable CompletableFuture<Void> attempt;
    private @Nullable TcpTransport transport;
    private @Nullable MpaConnection mpa;
    private boolean triedTls;
    private final LoopTimer silence;

    OutgoingTcpSetup(
            SoftwareDevice device,
            SoftwareQueuePair queuePair,
            List<InetSocketAddress> remotes,
            ConnectionParameters parameters) {
        super(device, queuePair, remotes, parameters);
        this.silence = new LoopTimer(queuePair.loop(), this::onSilence);
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
        if (!(failure instanceof TcpRace.NoneReachedException none)) {
            return failureHere(remote(), failure);
        }
        boolean refused = none.failures().values().stream().allMatch(SystemErrors::isRefused);
        return new ConnectionFailedException(
                refused ? Kind.REFUSED : Kind.UNREACHABLE, TcpFailure.describe(none.failures()), failure);
    }

    private void onConnected(InetSocketAddress remote, TcpTransport connected, MpaOptions options) {
        transport = connected;
        TlsCredentials credentials = wantsTls(remote) ? device().credentials() : null;
        MpaOptions chosen =
                credentials == null ? options : inTls(options, parameters().security());
        MpaConnection connection = new MpaConnection(MpaRole.INITIATOR, chosen, connected, this);
        connected.bind(connection);
        if (isOver()) {
            connected.abort();
            return;
        }
        mpa = connection;
        reached(remote);
        TlsUse security = parameters().security().security();
        if (credentials != null) {
            triedTls = true;
            connected.beginTls(new TlsStart(
                    credentials,
                    credentials.initiator(remote),
                    new TlsOutcome(remote, connected, connection, options)));
            if (security == TlsUse.PREFERRED) {
                silence.start(parameters().timeout().dividedBy(SILENCE_DIVISOR));
            }
        } else if (security == TlsUse.REQUIRED) {
            fail(new ConnectionFailedException(
                    Kind.SECURITY, "this device has no identity for TLS any more; check its source"));
            giveUp();
        } else {
            connection.start();
        }
    }

    private boolean wantsTls(InetSocketAddress remote) {
        return switch (parameters().security().security()) {
            case REQUIRED -> true;
            case PREFERRED -> !device().plainPeers().contains(remote);
            case PLAIN -> false;
        };
    }

    /** Outcome of TLS on one TCP connection. */
    private final class TlsOutcome implements TlsListener {

        private final InetSocketAddress remote;
        private final TcpTransport below;
        private final MpaConnection connection;
        private final MpaOptions options;

        TlsOutcome(InetSocketAddress remote, TcpTransport below, MpaConnection connection, MpaOptions options) {
            this.remote = remote;
            this.below = below;
            this.connection = connection;
            this.options = options;
        }

        @Override
        public void onTlsSecured(TlsAttributes agreed) {
            silence.stop();
            if (isOver()) {
                below.abort();
                return;
            }
            if (!parameters().security().peers().test(agreed.peer())) {
                fail(new ConnectionFailedException(
                        Kind.SECURITY,
                        "the peer at " + remote + " is " + agreed.peer()
                                + ", which this connection does not permit; check the address, or permit that peer"));
                below.close();
                return;
            }
            connection.start();
        }

        @Override
        public void onTlsFailed(TlsFailure failure) {
            silence.stop();
            if (isOver()) {
                return;
            }
            if (failure.kind() == TlsFailure.Kind.NOT_TLS
                    && parameters().security().security() == TlsUse.PREFERRED) {
                device().plainPeers().add(remote);
                mpa = null;
                transport = null;
                connect(options);
                return;
            }
            String remedy = failure.kind() == TlsFailure.Kind.NOT_TLS
                    ? "; security is `required` here, so enable TLS at the peer, or use `preferred` or `plain`"
                    : "";
            Kind kind = switch (failure.kind()) {
                case NOT_TLS, CERTIFICATE, PROTOCOL -> Kind.SECURITY;
                case TRUNCATED, LIMIT -> Kind.PROTOCOL;
            };
            fail(new ConnectionFailedException(kind, "no TLS with " + remote + ": " + failure.message() + remedy));
        }
    }

    /** Handles a peer that has answered nothing to TLS. */
    private void onSilence() {
        TcpTransport below = transport;
        if (!isOver() && below != null && below.isHandshaking()) {
            below.endSilentTls();
        }
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
        if (transport != null && transport.isHandshaking()) {
            transport.abort();
        } else if (mpa != null) {
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
            RdmapStream stream = attachStream(
                    queuePair(), connection, below.tlsAttributes(), agreed.ird(), agreed.ord(), connection::attach);
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
        Optional<SecurityDenial> denied = SecurityDenial.of(reply.privateData());
        if (denied.equals(Optional.of(SecurityDenial.TLS_REQUIRED)) && mayTryTls()) {
            mpa = null;
            transport = null;
            connect(options(parameters()));
            return;
        }
        denied.ifPresentOrElse(
                denial -> fail(new ConnectionFailedException(
                        Kind.SECURITY, "the listener at " + remote() + " refused the connection: " + denial.advice())),
                () -> rejected(reply.privateData(), reply.peer()));
    }

    /** Returns whether this side went without TLS only because it remembered the peer, which has TLS now. */
    private boolean mayTryTls() {
        return !isOver()
                && parameters().security().security() == TlsUse.PREFERRED
                && device().plainPeers().remove(remote())
                && !triedTls;
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        failed(reason, message);
    }
}
