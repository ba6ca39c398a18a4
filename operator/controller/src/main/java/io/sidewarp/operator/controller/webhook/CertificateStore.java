// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The webhook's certificate as it is in the cluster. Every replica follows the Secret, and every one replaces a certificate
 * that is missing or due: the API server's optimistic locking lets one of them win.
 */
@ApplicationScoped
public class CertificateStore implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(CertificateStore.class);
    private static final long CHECK_MINUTES = 60;
    private static final long RETRY_SECONDS = 5;

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final AtomicReference<@Nullable WebhookCertificate> current = new AtomicReference<>();
    private final List<Consumer<WebhookCertificate>> followers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("webhook-certificate").factory());
    private @Nullable SharedIndexInformer<Secret> informer;

    public CertificateStore(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Begins to follow the Secret. {@code follower} hears of the certificate that there is and of each that replaces it. */
    void follow(Consumer<WebhookCertificate> follower) {
        followers.add(follower);
        if (informer == null) {
            informer = secret().inform(new ResourceEventHandler<>() {
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
                    checks.execute(CertificateStore.this::checkSafely);
                }
            });
            checks.execute(this::checkSafely);
            checks.scheduleWithFixedDelay(this::checkSafely, CHECK_MINUTES, CHECK_MINUTES, TimeUnit.MINUTES);
        }
        Optional.ofNullable(current.get()).ifPresent(follower);
    }

    /** What the API server shall trust, in PEM. */
    public Optional<String> authorities() {
        return Optional.ofNullable(current.get()).map(WebhookCertificate::authorities);
    }

    private Resource<Secret> secret() {
        return client.secrets()
                .inNamespace(config.namespace())
                .withName(config.webhook().certificateSecret());
    }

    private void take(Secret secret) {
        Optional<WebhookCertificate> certificate = WebhookCertificate.of(secret);
        if (certificate.isPresent() && !certificate.get().equals(current.getAndSet(certificate.get()))) {
            LOG.infof("event=certificate-loaded secret=%s", config.webhook().certificateSecret());
            followers.forEach(follower -> follower.accept(certificate.get()));
        }
    }

    private void checkSafely() {
        try {
            check(Instant.now());
        } catch (RuntimeException e) {
            LOG.warnf(
                    "event=certificate-check-failed secret=%s retry-seconds=%d reason=\"%s\"",
                    config.webhook().certificateSecret(), RETRY_SECONDS, e.getMessage());
            if (!checks.isShutdown()) {
                checks.schedule(this::checkSafely, RETRY_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    /** Makes a certificate if there is none or it is due, and takes what is in the cluster then. */
    private void check(Instant now) {
        Secret present = secret().get();
        Optional<WebhookCertificate> certificate = Optional.ofNullable(present).flatMap(WebhookCertificate::of);
        if (!config.webhook().manageCertificate()) {
            if (certificate.isEmpty()) {
                throw new IllegalStateException(
                        "the Secret is missing or lacks tls.crt, tls.key or ca.crt; whoever makes it has"
                                + " not done so yet");
            }
        } else if (certificate.isEmpty() || certificate.get().isDue(now)) {
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
        List<String> names = new ArrayList<>(List.of(service, service + ".cluster.local"));
        config.webhook().certificateNames().ifPresent(names::addAll);
        return names;
    }

    @Override
    public void close() {
        checks.shutdownNow();
        if (informer != null) {
            informer.close();
        }
    }
}
