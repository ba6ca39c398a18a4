// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.webhook.admission.AdmissionController;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.opentelemetry.api.OpenTelemetry;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.injection.InjectionRules;
import io.sidewarp.operator.controller.injection.PodMutator;
import io.sidewarp.operator.controller.injection.SidecarImage;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.KeyCertOptions;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The HTTPS server that the API server calls: {@code POST /mutate-pods} with an AdmissionReview of version v1. */
@ApplicationScoped
public class WebhookServer implements AutoCloseable {
    static final String PATH = "/mutate-pods";

    private static final Logger LOG = Logger.getLogger(WebhookServer.class);
    /** Twice of what the API server takes for an object, since a review has the object and its former state. */
    static final int MAX_REVIEW_OCTETS = 6 << 20;

    private final Vertx vertx;
    private final OperatorConfig config;
    private final CertificateStore certificates;
    private final NamespaceFacts facts;
    private final KubernetesClient client;
    private final MeterRegistry meters;
    private final OpenTelemetry telemetry;
    private final ServedKeys keys = new ServedKeys();
    private final ReviewBudget budget = new ReviewBudget();
    private @Nullable HttpServer server;
    private @Nullable AdmissionController<Pod> admission;
    private volatile int port;

    public WebhookServer(
            Vertx vertx,
            OperatorConfig config,
            CertificateStore certificates,
            NamespaceFacts facts,
            KubernetesClient client,
            MeterRegistry meters,
            OpenTelemetry telemetry) {
        this.vertx = vertx;
        this.config = config;
        this.certificates = certificates;
        this.facts = facts;
        this.client = client;
        this.meters = meters;
        this.telemetry = telemetry;
    }

    /** Starts to listen as soon as there is a certificate. */
    public void start(boolean nativeSidecars) {
        admission = new AdmissionController<>(new PodAdmission(
                new InjectionRules(nativeSidecars),
                new PodMutator(new SidecarImage(config.sidecarImage(), config.version())),
                facts,
                meters,
                telemetry.getTracer("sidewarp-controller")));
        facts.start();
        certificates.serve(this::use);
    }

    /** Whether pods can be decided about. */
    public boolean isReady() {
        return port != 0 && facts.isReady();
    }

    /** Where it listens, or 0 while it does not. */
    int port() {
        return port;
    }

    private synchronized void use(WebhookCertificate certificate) {
        try {
            keys.serve(certificate);
        } catch (IOException | GeneralSecurityException e) {
            LOG.errorf(
                    "event=certificate-unusable secret=%s reason=\"%s\"",
                    config.webhook().certificateSecret(), e.getMessage());
            return;
        }
        if (server != null) {
            return;
        }
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setHost(config.webhook().host())
                        .setPort(config.webhook().port())
                        .setSsl(true)
                        .setKeyCertOptions(KeyCertOptions.wrap(keys)))
                .requestHandler(this::handle);
        server.listen()
                .onSuccess(listening -> {
                    port = listening.actualPort();
                    LOG.infof("event=webhook-listening port=%d", port);
                })
                .onFailure(e -> LOG.errorf(
                        "event=webhook-not-listening host=%s port=%d reason=\"%s\" action=\"free the port, or set"
                                + " sidewarp.operator.webhook.port\"",
                        config.webhook().host(), config.webhook().port(), e.getMessage()));
    }

    private void handle(HttpServerRequest request) {
        if (!request.path().equals(PATH) || !request.method().equals(HttpMethod.POST)) {
            answer(request, HttpURLConnection.HTTP_NOT_FOUND, "POST an AdmissionReview to " + PATH);
            return;
        }
        Buffer body = Buffer.buffer();
        request.handler(part -> {
            if (body.length() + part.length() <= MAX_REVIEW_OCTETS) {
                body.appendBuffer(part);
            } else if (!request.response().ended()) {
                answer(request, HttpURLConnection.HTTP_ENTITY_TOO_LARGE, "more than " + MAX_REVIEW_OCTETS + " octets");
            }
        });
        request.endHandler(end -> {
            if (!request.response().ended()) {
                vertx.executeBlocking(() -> review(body.getBytes()), false)
                        .onSuccess(review -> request.response()
                                .putHeader("Content-Type", "application/json")
                                .end(review))
                        .onFailure(e -> fail(request, e));
            }
        });
    }

    private String review(byte[] body) throws InterruptedException {
        return budget.spend(body, () -> decide(body));
    }

    private String decide(byte[] body) {
        KubernetesSerialization serialization = client.getKubernetesSerialization();
        AdmissionReview review =
                serialization.unmarshal(new String(body, StandardCharsets.UTF_8), AdmissionReview.class);
        if (review.getRequest() == null || review.getRequest().getUid() == null || admission == null) {
            throw new IllegalArgumentException("no AdmissionReview of version v1 with a request");
        }
        Timer.Sample sample = Timer.start(meters);
        try {
            return serialization.asJson(admission.handle(review));
        } finally {
            sample.stop(meters.timer("sidewarp.operator.admission.duration"));
        }
    }

    private static void fail(HttpServerRequest request, Throwable e) {
        if (e instanceof IllegalArgumentException) {
            answer(request, HttpURLConnection.HTTP_BAD_REQUEST, e.getMessage());
        } else {
            LOG.errorf(e, "event=admission-failed");
            answer(request, HttpURLConnection.HTTP_INTERNAL_ERROR, "see the controller's log");
        }
    }

    private static void answer(HttpServerRequest request, int status, @Nullable String text) {
        request.response()
                .setStatusCode(status)
                .putHeader("Content-Type", "text/plain")
                .end(text + "\n");
    }

    @Override
    public void close() {
        certificates.close();
        facts.close();
        if (server != null) {
            server.close();
        }
    }
}
