// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The webhook's certificate in the cluster. Every replica follows the Secret, and replaces a certificate that is
 * missing, unusable, due, or lacks a name. The API server's optimistic locking lets only one replica win. A new
 * certificate is served only after the webhook configuration makes the API server trust its authority. Until then the
 * former certificate is served.
 */
@ApplicationScoped
public class CertificateStore implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(CertificateStore.class);
    private static final Duration CHECK_INTERVAL = Duration.ofHours(1);
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final AtomicReference<@Nullable WebhookCertificate> newest = new AtomicReference<>();
    private final AtomicReference<@Nullable WebhookCertificate> served = new AtomicReference<>();
    private final List<Runnable> authorityListeners = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("webhook-certificate").factory());
    /** Next check. Used only by the thread of the checks. */
    private @Nullable ScheduledFuture<?> nextCheck;

    private volatile Consumer<WebhookCertificate> server = certificate -> {};
    private @Nullable SharedIndexInformer<Secret> secrets;
    private @Nullable SharedIndexInformer<MutatingWebhookConfiguration> configurations;

    public CertificateStore(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Starts to follow the Secret. {@code server} receives each certificate to serve. */
    void serve(Consumer<WebhookCertificate> server) {
        this.server = server;
        secrets = secret().inform(handler(this::take, this::checkSoon));
        // Without the configuration, nobody calls the webhook.
        configurations = configuration().inform(handler(this::switchLater, () -> {}));
        checkSoon();
    }

    private static <T> ResourceEventHandler<T> handler(Consumer<T> written, Runnable deleted) {
        return new ResourceEventHandler<>() {
            @Override
            public void onAdd(T resource) {
                written.accept(resource);
            }

            @Override
            public void onUpdate(T before, T resource) {
                written.accept(resource);
            }

            @Override
            public void onDelete(T resource, boolean finalStateUnknown) {
                deleted.run();
            }
        };
    }

    /** Registers {@code listener} for changes of {@link #authorities}. */
    public void onAuthorities(Runnable listener) {
        authorityListeners.add(listener);
    }

    /**
     * Returns the authorities that the API server must trust, in PEM: the authorities of the served certificate and of
     * the next one.
     */
    public Optional<String> authorities() {
        WebhookCertificate next = newest.get();
        WebhookCertificate present = served.get();
        if (next == null) {
            return Optional.empty();
        }
        String former = present == null || present.isTrustedBy(next.authorities())
                ? ""
                : present.validAuthorities(Instant.now());
        return Optional.of(next.authorities() + former);
    }

    private Resource<Secret> secret() {
        return client.secrets()
                .inNamespace(config.namespace())
                .withName(config.webhook().certificateSecret());
    }

    private Resource<MutatingWebhookConfiguration> configuration() {
        return client.admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(config.webhook().configuration());
    }

    private void checkSoon() {
        if (!checks.isShutdown()) {
            checks.execute(this::checkSafely);
        }
    }

    /** Returns whether the operator manages the certificate and the Secret has no usable one. */
    private boolean mustBeMade(Optional<WebhookCertificate> certificate) {
        return config.webhook().manageCertificate()
                && !certificate.map(WebhookCertificate::isUsable).orElse(false);
    }

    private void take(Secret secret) {
        Optional<WebhookCertificate> certificate = WebhookCertificate.of(secret);
        if (mustBeMade(certificate)) {
            // The unusable Secret has another writer. The present certificate stays served and trusted until the Secret
            // is replaced.
            checkSoon();
            return;
        }
        if (certificate.isPresent() && !certificate.get().equals(newest.getAndSet(certificate.get()))) {
            LOG.infof("event=certificate-loaded secret=%s", config.webhook().certificateSecret());
            WebhookCertificate present = served.get();
            if (present == null || present.isExpired(Instant.now())) {
                serveNow(certificate.get());
            }
            authorityListeners.forEach(Runnable::run);
            // The leader may have updated the configuration already.
            if (configurations != null) {
                configurations.getStore().list().forEach(this::switchLater);
            }
        }
    }

    /**
     * Schedules the switch to the newest certificate if a webhook configuration makes the API server trust it. The
     * delay lets the API server's caches catch up.
     */
    private void switchLater(MutatingWebhookConfiguration configuration) {
        WebhookCertificate next = newest.get();
        if (next != null && !next.equals(served.get()) && isTrusted(next, configuration) && !checks.isShutdown()) {
            checks.schedule(
                    () -> serveNow(next),
                    config.webhook().certificateSwitchDelay().toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }

    private static boolean isTrusted(WebhookCertificate certificate, MutatingWebhookConfiguration configuration) {
        return configuration.getWebhooks().stream()
                .map(webhook -> webhook.getClientConfig().getCaBundle())
                .allMatch(bundle -> bundle != null && certificate.isTrustedBy(WebhookCertificate.decode(bundle)));
    }

    private synchronized void serveNow(WebhookCertificate certificate) {
        if (certificate.equals(newest.get()) && !certificate.equals(served.getAndSet(certificate))) {
            LOG.info("event=certificate-served");
            server.accept(certificate);
        }
    }

    private void checkSafely() {
        Duration wait = RETRY;
        try {
            check(Instant.now());
            wait = untilNextCheck(Instant.now());
        } catch (RuntimeException e) {
            LOG.warnf(
                    "event=certificate-check-failed secret=%s retry-seconds=%d reason=%s",
                    config.webhook().certificateSecret(), RETRY.toSeconds(), LogText.quoted(e.getMessage()));
        }
        if (nextCheck != null) {
            // A deleted Secret causes a check in between.
            nextCheck.cancel(false);
        }
        if (!checks.isShutdown()) {
            nextCheck = checks.schedule(this::checkSafely, wait.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private Duration untilNextCheck(Instant now) {
        WebhookCertificate present = newest.get();
        return present == null || !config.webhook().manageCertificate()
                ? CHECK_INTERVAL
                : untilNextCheck(now, present.dueAt());
    }

    /**
     * Returns the time until the next check. A certificate with a short validity can be due before the usual interval
     * is over.
     */
    static Duration untilNextCheck(Instant now, Instant due) {
        Duration untilDue = Duration.between(now, due);
        Duration wait = untilDue.isNegative() ? RETRY : untilDue.plus(RETRY);
        return wait.compareTo(CHECK_INTERVAL) < 0 ? wait : CHECK_INTERVAL;
    }

    /**
     * Creates a certificate if there is no usable one, or if the present one is due or lacks a name. Then takes the
     * certificate from the cluster.
     */
    private void check(Instant now) {
        Secret present = secret().get();
        Optional<WebhookCertificate> certificate = Optional.ofNullable(present).flatMap(WebhookCertificate::of);
        if (!config.webhook().manageCertificate()) {
            if (certificate.isEmpty()) {
                throw new IllegalStateException(
                        "the Secret is missing or lacks tls.crt, tls.key or ca.crt; check its creator, for"
                                + " instance cert-manager");
            }
        } else if (mustBeMade(certificate) || certificate.get().isDue(now, names())) {
            present = replace(present, certificate, now);
        }
        if (present != null) {
            take(present);
        }
    }

    private @Nullable Secret replace(@Nullable Secret present, Optional<WebhookCertificate> former, Instant now) {
        Secret made = CertificateMaker.make(
                        names(),
                        now,
                        config.webhook().certificateValidity(),
                        former.map(certificate -> certificate.validAuthorities(now))
                                .orElse(""))
                .toSecret(config.namespace(), config.webhook().certificateSecret());
        try {
            if (present == null) {
                return client.resource(made).create();
            }
            made.getMetadata().setResourceVersion(present.getMetadata().getResourceVersion());
            return client.resource(made).update();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return secret().get();
            }
            throw e;
        }
    }

    private List<String> names() {
        String service = config.webhook().service() + "." + config.namespace() + ".svc";
        Set<String> names = new LinkedHashSet<>(List.of(service, service + ".cluster.local"));
        config.webhook()
                .url()
                .map(URI::getHost)
                .map(CertificateStore::withoutBrackets)
                .ifPresent(names::add);
        config.webhook().certificateNames().ifPresent(names::addAll);
        return List.copyOf(names);
    }

    /** Removes the brackets of an IPv6 address. A URL has them, and a certificate does not. */
    private static String withoutBrackets(String host) {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    @Override
    public void close() {
        checks.shutdownNow();
        if (secrets != null) {
            secrets.close();
        }
        if (configurations != null) {
            configurations.close();
        }
    }
}
