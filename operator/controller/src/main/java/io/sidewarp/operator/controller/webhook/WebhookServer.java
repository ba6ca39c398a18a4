// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.webhook.admission.AdmissionController;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.quarkus.runtime.ShutdownEvent;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.SettingRules;
import io.sidewarp.operator.controller.https.Answer;
import io.sidewarp.operator.controller.https.HttpsListener;
import io.sidewarp.operator.controller.https.Limits;
import io.sidewarp.operator.controller.https.Responder;
import io.sidewarp.operator.controller.https.ServedKeys;
import io.sidewarp.operator.controller.injection.PodMutator;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** HTTPS server that the API server calls: {@code POST /mutate-pods} with an AdmissionReview of version v1. */
@ApplicationScoped
public class WebhookServer implements AutoCloseable {
    static final String PATH = "/mutate-pods";

    private static final String NO_REVIEW = "no AdmissionReview of version v1 with a request";

    private static final Logger LOG = Logger.getLogger(WebhookServer.class);
    static final int MAX_REVIEW_OCTETS = SettingRules.MAX_REVIEW_OCTETS;

    private static final TextMapGetter<HttpHeaders> HEADERS = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(HttpHeaders headers) {
            return headers.names();
        }

        @Override
        public @Nullable String get(@Nullable HttpHeaders headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private final OperatorConfig config;
    private final CertificateStore certificates;
    private final NamespaceFacts facts;
    private final OwnerWarnings ownerWarnings;
    private final PodReviews reviews = new PodReviews();
    private final KubernetesClient client;
    private final MeterRegistry meters;
    private final OpenTelemetry telemetry;
    private final ServedKeys keys = new ServedKeys();
    private final ReviewBudget budget = new ReviewBudget();
    private @Nullable HttpsListener server;
    private @Nullable AdmissionController<Pod> admission;
    private volatile int port;
    private volatile boolean ending;

    public WebhookServer(
            OperatorConfig config,
            CertificateStore certificates,
            NamespaceFacts facts,
            EventRecorder events,
            KubernetesClient client,
            MeterRegistry meters,
            OpenTelemetry telemetry) {
        this.config = config;
        this.certificates = certificates;
        this.facts = facts;
        this.ownerWarnings = new OwnerWarnings(events);
        this.client = client;
        this.meters = meters;
        this.telemetry = telemetry;
    }

    /** Starts to listen as soon as there is a certificate. */
    public void start() {
        admission = new AdmissionController<>(new PodAdmission(
                new PodMutator(config.sidecarImage(), config.version()),
                facts,
                ownerWarnings,
                reviews,
                meters,
                telemetry.getTracer("sidewarp-controller")));
        facts.start();
        certificates.serve(this::use);
    }

    /** Returns whether the webhook can decide about pods and is not shutting down. */
    public boolean isReady() {
        return port != 0 && !ending && facts.isReady();
    }

    /** Returns the recent decisions about pods. */
    public PodReviews reviews() {
        return reviews;
    }

    /** Returns the port, or 0 while the webhook does not listen. */
    int port() {
        return port;
    }

    private synchronized void use(WebhookCertificate certificate) {
        try {
            keys.serve(certificate.key(), certificate.chain());
        } catch (IOException | GeneralSecurityException e) {
            LOG.errorf(
                    "event=certificate-unusable secret=%s reason=%s",
                    config.webhook().certificateSecret(), LogText.quoted(e.getMessage()));
            return;
        }
        if (server != null) {
            return;
        }
        server = listener(
                config.webhook(), keys, this::review, meters.counter("sidewarp.operator.webhook.cut.off")::increment);
        server.startPatiently(
                config.webhook().host(),
                config.webhook().port(),
                bound -> {
                    port = bound;
                    LOG.infof("event=webhook-listening port=%d", bound);
                },
                reason -> LOG.errorf(
                        "event=webhook-not-listening host=%s port=%d reason=%s action=\"free the port, or set"
                                + " sidewarp.operator.webhook.port\"",
                        config.webhook().host(), config.webhook().port(), LogText.quoted(reason)));
    }

    static HttpsListener listener(OperatorConfig.Webhook config, ServedKeys keys, Reviewer reviewer, Runnable tally) {
        Limits limits = new Limits(
                config.connections(),
                config.pendingOctets(),
                MAX_REVIEW_OCTETS,
                config.requestTimeout(),
                config.idleTimeout(),
                config.shutdownDelay());
        return new HttpsListener("webhook", limits, keys, new ReviewResponder(reviewer), tally);
    }

    private record ReviewResponder(Reviewer reviewer) implements Responder {
        @Override
        public Optional<Answer> refuse(HttpRequest head) {
            return HttpMethod.POST.equals(head.method())
                            && new QueryStringDecoder(head.uri()).path().equals(PATH)
                    ? Optional.empty()
                    : Optional.of(Answer.text(404, "POST an AdmissionReview to " + PATH));
        }

        @Override
        public Answer answer(HttpRequest head, byte[] body) throws InterruptedException {
            return Answer.json(reviewer.review(head.headers(), body));
        }
    }

    /** Decides about a review, in the trace of the API server if there is one. */
    private byte[] review(HttpHeaders headers, byte[] review) throws InterruptedException {
        Context caller = telemetry.getPropagators().getTextMapPropagator().extract(Context.root(), headers, HEADERS);
        try (Scope scope = caller.makeCurrent()) {
            return budget.spend(review, () -> decide(review));
        }
    }

    private byte[] decide(byte[] body) {
        KubernetesSerialization serialization = client.getKubernetesSerialization();
        AdmissionReview review = parse(serialization, body);
        if (admission == null) {
            throw new IllegalStateException("the webhook got a review before its start");
        }
        Timer.Sample sample = Timer.start(meters);
        try {
            return serialization.asJson(admission.handle(review)).getBytes(StandardCharsets.UTF_8);
        } finally {
            sample.stop(meters.timer("sidewarp.operator.admission.duration"));
        }
    }

    /** Parses a review. An invalid review is the client's fault and is not logged. */
    private static AdmissionReview parse(KubernetesSerialization serialization, byte[] body) {
        AdmissionReview review;
        try {
            review = serialization.unmarshal(new String(body, StandardCharsets.UTF_8), AdmissionReview.class);
        } catch (IllegalArgumentException | KubernetesClientException e) {
            throw new IllegalArgumentException(NO_REVIEW, e);
        }
        if (review == null || review.getRequest() == null || review.getRequest().getUid() == null) {
            throw new IllegalArgumentException(NO_REVIEW);
        }
        return review;
    }

    /** Shuts the webhook down before everything that reviews need. */
    void end(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) ShutdownEvent event) {
        ending = true;
        HttpsListener listener = listener();
        if (listener != null) {
            LOG.infof(
                    "event=webhook-ending delay-seconds=%d",
                    config.webhook().shutdownDelay().toSeconds());
            try {
                listener.drain();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        close();
    }

    private synchronized @Nullable HttpsListener listener() {
        return server;
    }

    @Override
    public void close() {
        certificates.close();
        facts.close();
        ownerWarnings.close();
        HttpsListener listener = listener();
        if (listener != null) {
            listener.close();
        }
    }
}
