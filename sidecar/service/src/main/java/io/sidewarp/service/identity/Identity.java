// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.net.tls.TlsIdentity;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * This side's credentials as its source delivers them. Credentials that expire stay in use, so that peers refuse them by
 * name, and connections do not fall back to plain ones. Thread-safe.
 */
public final class Identity implements TlsIdentity, CertificateSource.Receiver, AutoCloseable {

    private static final Logger LOG = Logger.getLogger(Identity.class);
    private static final Duration CHECK = Duration.ofSeconds(30);
    /** Part of its lifetime that a certificate has left when a warning is due. Sources renew long before. */
    private static final int WARNING_PART = 5;

    private final CertificateSource source;
    private final Clock clock;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("sidewarp-identity", true));
    private final CompletableFuture<TlsCredentials> first = new CompletableFuture<>();
    private volatile @Nullable TlsCredentials credentials;
    private volatile @Nullable String sourceProblem;
    private @Nullable String logged;

    public Identity(CertificateSource source, Clock clock) {
        this.source = source;
        this.clock = clock;
    }

    /** Starts the source, and returns at once. */
    public void start() {
        source.start(thread, this);
        thread.scheduleWithFixedDelay(this::logProblem, CHECK.toSeconds(), CHECK.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public Optional<TlsCredentials> current() {
        return Optional.ofNullable(credentials);
    }

    @Override
    public String reason() {
        String cause = sourceProblem;
        return cause == null ? "wait for its source (sidewarp.identity.source)" : cause;
    }

    /** Tells the source that a listener denied a peer. */
    public void onDenied(String message) {
        source.onDenied(message);
    }

    /** Completes with the first credentials. */
    public CompletableFuture<TlsCredentials> first() {
        return first;
    }

    /** Returns the time until the certificate expires. Negative afterwards; empty while there is none. */
    public Optional<Duration> timeLeft() {
        return current().map(now -> Duration.between(clock.instant(), now.expiry()));
    }

    /** Returns the lifetime of the certificate. Empty while there is none. */
    public Optional<Duration> lifetime() {
        return current().map(Identity::lifetime);
    }

    private static Duration lifetime(TlsCredentials credentials) {
        return Duration.between(credentials.validFrom(), credentials.expiry());
    }

    /** Returns what is wrong, and what to do. Empty if the certificate is valid for long enough. */
    public Optional<String> problem() {
        TlsCredentials now = credentials;
        String cause = sourceProblem;
        String because = cause == null ? "" : ": " + cause;
        if (now == null) {
            return Optional.of("this side has no certificate yet, so connections with TLS fail" + because);
        }
        Instant time = clock.instant();
        if (!time.isBefore(now.expiry())) {
            return Optional.of("the certificate of this side, " + now.id() + ", expired at " + now.expiry()
                    + ", so peers refuse new connections with TLS"
                    + (cause == null ? "; renew it at its source (sidewarp.identity.source)" : because));
        }
        Duration left = Duration.between(time, now.expiry());
        if (left.compareTo(lifetime(now).dividedBy(WARNING_PART)) < 0) {
            return Optional.of("the certificate of this side, " + now.id() + ", expires at " + now.expiry()
                    + ", and its source has not renewed it"
                    + (cause == null ? "; check the source (sidewarp.identity.source)" : because));
        }
        return Optional.ofNullable(cause)
                .map(text -> "the certificate of this side, " + now.id() + ", valid until " + now.expiry()
                        + ", is not renewed: " + text);
    }

    @Override
    public void onCredentials(TlsCredentials renewed) {
        credentials = renewed;
        sourceProblem = null;
        LOG.infof("event=identity id=%s expires=%s", renewed.id(), renewed.expiry());
        first.complete(renewed);
        logProblem();
    }

    @Override
    public void onProblem(String problem) {
        sourceProblem = problem;
        logProblem();
    }

    @Override
    public void onUnchanged() {
        sourceProblem = null;
        logProblem();
    }

    /** Logs a problem that is not logged yet. */
    private synchronized void logProblem() {
        String problem = problem().orElse(null);
        if (problem != null && !problem.equals(logged)) {
            LOG.warnf("event=identity-problem message=%s", LogText.quoted(problem));
        }
        logged = problem;
    }

    @Override
    public void close() {
        source.close();
        thread.shutdownNow();
    }
}
