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
import io.sidewarp.operator.api.log.LogText;
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
 * The webhook's certificate as it is in the cluster. Every replica follows the Secret, and every one replaces a certificate
 * that is missing, useless, due or lacks a name: the API server's optimistic locking lets one of them win. A certificate
 * that replaces another one is served only after the webhook configuration tells the API server to trust its authority; until
 * then the former one is.
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
    private final List<Consumer<WebhookCertificate>> servers = new CopyOnWriteArrayList<>();
    private final List<Runnable> authorityListeners = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("webhook-certificate").factory());
    /** Of the thread of the checks alone. */
    private @Nullable ScheduledFuture<?> nextCheck;

    private @Nullable SharedIndexInformer<Secret> secrets;
    private @Nullable SharedIndexInformer<MutatingWebhookConfiguration> configurations;

    public CertificateStore(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Begins to follow the Secret. {@code server} hears of the certificate to serve, and of each that it shall serve instead. */
    void serve(Consumer<WebhookCertificate> server) {
        servers.add(server);
        if (secrets == null) {
            secrets = secret().inform(new ResourceEventHandler<>() {
                @Override
                public void onAdd(Secret secret) {
                    take(secret);
                }

                @Override
                public void onUpdate(Secret before, Secret secret) {
                    take(secret);
                }

                @Override
                public void onDelete(Secret secret, boolean finalStateUnknown) {
                    checkSoon();
                }
            });
            configurations = configuration().inform(new ResourceEventHandler<>() {
                @Override
                public void onAdd(MutatingWebhookConfiguration configuration) {
                    switchLater(configuration);
                }

                @Override
                public void onUpdate(MutatingWebhookConfiguration before, MutatingWebhookConfiguration configuration) {
                    switchLater(configuration);
                }

                @Override
                public void onDelete(MutatingWebhookConfiguration configuration, boolean finalStateUnknown) {
                    // Nobody calls then.
                }
            });
            checkSoon();
        }
        Optional.ofNullable(served.get()).ifPresent(server);
    }

    /** {@code listener} is called when {@link #authorities} gives something else. */
    public void onAuthorities(Runnable listener) {
        authorityListeners.add(listener);
    }

    /** What the API server shall trust, in PEM: who stands for the certificate that is served, and for the next one. */
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

    /** Whether there is nothing that could be served, in a Secret that this operator makes. */
    private boolean mustBeMade(Optional<WebhookCertificate> certificate) {
        return config.webhook().manageCertificate()
                && !certificate.map(WebhookCertificate::isUsable).orElse(false);
    }

    private void take(Secret secret) {
        Optional<WebhookCertificate> certificate = WebhookCertificate.of(secret);
        if (mustBeMade(certificate)) {
            // Somebody else wrote it. What is served and trusted goes on until it is replaced.
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
            // The controller that leads may have been faster.
            if (configurations != null) {
                configurations.getStore().list().forEach(this::switchLater);
            }
        }
    }

    /** When a webhook configuration makes the API server trust the newest certificate: its caches get a moment, too. */
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
            servers.forEach(server -> server.accept(certificate));
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
            // A Secret that is deleted is a reason for a check between.
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

    /** One whose validity is short is due before the usual time is over. */
    static Duration untilNextCheck(Instant now, Instant due) {
        Duration untilDue = Duration.between(now, due);
        Duration wait = untilDue.isNegative() ? RETRY : untilDue.plus(RETRY);
        return wait.compareTo(CHECK_INTERVAL) < 0 ? wait : CHECK_INTERVAL;
    }

    /** Makes a certificate if there is none of use, or one that is due or lacks a name, and takes what is in the cluster. */
    private void check(Instant now) {
        Secret present = secret().get();
        Optional<WebhookCertificate> certificate = Optional.ofNullable(present).flatMap(WebhookCertificate::of);
        if (!config.webhook().manageCertificate()) {
            if (certificate.isEmpty()) {
                throw new IllegalStateException(
                        "the Secret is missing or lacks tls.crt, tls.key or ca.crt; whoever makes it has"
                                + " not done so yet");
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

    /** An address of IPv6 has brackets in a URL, and none in a certificate. */
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
