// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The CAs of sidecars' identities, in one Secret. Every replica follows the Secret and signs. Every replica also looks
 * whether the next CA is due. The API server's optimistic locking lets only one replica write the Secret.
 *
 * <p>A Secret that is deleted is replaced by a new CA, and nobody trusts the former CAs any more. A Secret that cannot
 * be read is left alone: the CAs that were read before stay in use.
 */
@ApplicationScoped
public class IdentityCa implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(IdentityCa.class);
    private static final Duration CHECK_INTERVAL = Duration.ofMinutes(10);
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final InstantSource clock;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("identity-ca").factory());
    /** Next check. Used only by the thread of the checks. */
    private @Nullable ScheduledFuture<?> nextCheck;

    private volatile @Nullable Authorities present;
    private @Nullable SharedIndexInformer<Secret> secrets;

    @Inject
    public IdentityCa(KubernetesClient client, OperatorConfig config) {
        this(client, config, InstantSource.system());
    }

    IdentityCa(KubernetesClient client, OperatorConfig config, InstantSource clock) {
        this.client = client;
        this.config = config;
        this.clock = clock;
    }

    /** Starts to follow the Secret, which is created if it is missing. Does nothing if identities are switched off. */
    public void start() {
        if (!config.identity().enabled()) {
            return;
        }
        secrets = secret().inform(new ResourceEventHandler<>() {
            @Override
            public void onAdd(Secret secret) {
                takeSafely(secret);
            }

            @Override
            public void onUpdate(Secret before, Secret secret) {
                takeSafely(secret);
            }

            @Override
            public void onDelete(Secret secret, boolean finalStateUnknown) {
                checkSoon();
            }
        });
        checkSoon();
    }

    /**
     * Returns the CAs that sidecars must trust, in PEM. Empty while there are none: identities are switched off, or the
     * Secret has not been read yet.
     */
    public Optional<String> bundle() {
        return authorities().map(Authorities::bundle);
    }

    /** Returns the URL at which sidecars get their certificates. */
    public String issuer() {
        return "https://" + serviceName() + ":443";
    }

    /** Returns the host name of the service that sidecars call. */
    String serviceName() {
        return config.identity().service() + "." + config.namespace() + ".svc";
    }

    Optional<Authorities> authorities() {
        return Optional.ofNullable(present);
    }

    /** Registers {@code listener}, which is called after each change of the CAs, and after each check. */
    void onCheck(Runnable listener) {
        listeners.add(listener);
    }

    private Resource<Secret> secret() {
        return client.secrets()
                .inNamespace(config.namespace())
                .withName(config.identity().secret());
    }

    private void checkSoon() {
        if (!checks.isShutdown()) {
            checks.execute(this::checkAndRepeat);
        }
    }

    private void checkAndRepeat() {
        Duration wait = RETRY;
        try {
            check();
            wait = CHECK_INTERVAL;
        } catch (RuntimeException e) {
            LOG.warnf(
                    "event=identity-ca-check-failed secret=%s retry-seconds=%d reason=%s",
                    config.identity().secret(), RETRY.toSeconds(), LogText.quoted(e.getMessage()));
        }
        listeners.forEach(Runnable::run);
        if (nextCheck != null) {
            // A deleted Secret causes a check in between.
            nextCheck.cancel(false);
        }
        if (!checks.isShutdown()) {
            nextCheck = checks.schedule(this::checkAndRepeat, wait.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Creates the Secret if it is missing, and adds or removes a CA if it is time. Then takes the CAs. */
    void check() {
        Secret found = secret().get();
        Authorities made = found == null
                ? Authorities.create(
                        config.identity().trustDomain(),
                        clock.instant(),
                        config.identity().caValidity())
                : Authorities.of(found)
                        .renewed(
                                config.identity().trustDomain(),
                                clock.instant(),
                                config.identity().caValidity());
        take(write(found, made));
    }

    /** Writes the CAs if they differ from the Secret. Returns what the Secret has then. */
    private Secret write(@Nullable Secret found, Authorities made) {
        Secret next = made.toSecret(config.namespace(), config.identity().secret());
        try {
            if (found == null) {
                Secret created = client.resource(next).create();
                LOG.warnf(
                        "event=identity-ca-created secret=%s action=\"none at the first start; if the Secret was deleted,"
                                + " restart all pods with identities of the former CA\"",
                        config.identity().secret());
                return created;
            }
            if (made.equals(Authorities.of(found))) {
                return found;
            }
            next.getMetadata().setResourceVersion(found.getMetadata().getResourceVersion());
            return client.resource(next).update();
        } catch (KubernetesClientException e) {
            // Another replica was faster.
            Secret other = e.getCode() == HttpURLConnection.HTTP_CONFLICT ? secret().get() : null;
            if (other == null) {
                throw e;
            }
            return other;
        }
    }

    private void takeSafely(Secret secret) {
        try {
            take(secret);
        } catch (IllegalArgumentException e) {
            LOG.errorf(
                    "event=identity-ca-unusable secret=%s reason=%s action=\"restore the Secret; or delete it, and restart"
                            + " all pods with identities\"",
                    config.identity().secret(), LogText.quoted(e.getMessage()));
        }
    }

    private synchronized void take(Secret secret) {
        Authorities read = Authorities.of(secret);
        if (!read.equals(present)) {
            present = read;
            LOG.infof(
                    "event=identity-ca-loaded cas=%d signer=%s",
                    read.list().size(),
                    LogText.quoted(read.signer(clock.instant()).toString()));
            listeners.forEach(Runnable::run);
        }
    }

    @Override
    public void close() {
        checks.shutdownNow();
        if (secrets != null) {
            secrets.close();
        }
    }
}
