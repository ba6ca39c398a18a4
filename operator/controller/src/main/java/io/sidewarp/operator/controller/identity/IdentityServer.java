// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.quarkus.runtime.ShutdownEvent;
import io.sidewarp.common.LogText;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.https.Answer;
import io.sidewarp.operator.controller.https.HttpsListener;
import io.sidewarp.operator.controller.https.Limits;
import io.sidewarp.operator.controller.https.LogInterval;
import io.sidewarp.operator.controller.https.Responder;
import io.sidewarp.operator.controller.https.ServedKeys;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.interceptor.Interceptor;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * HTTPS service that signs certificates of sidecars: {@code POST /v1/certificates} with a certificate signing request
 * and the token of a service account, and {@code GET /v1/bundle}. Sidecars report denied peers by {@code POST
 * /v1/denials}. Every replica serves, from the CAs that it has read.
 *
 * <p>The identity comes from the token alone. Each connection ends after its answer: a sidecar comes back after 40
 * minutes.
 */
@ApplicationScoped
public class IdentityServer implements Responder, AutoCloseable {
    static final String CERTIFICATES = "/v1/certificates";
    static final String BUNDLE = "/v1/bundle";
    static final String DENIALS = "/v1/denials";

    private static final Logger LOG = Logger.getLogger(IdentityServer.class);
    private static final String BEARER = "Bearer ";

    /** Largest request. A request with a key of the curve P-256 has some hundred bytes. */
    private static final int MAX_REQUEST_OCTETS = 8 << 10;

    private static final int MAX_PENDING_OCTETS = 16 << 20;
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    /** Validity of the server's certificate, which is renewed when a half is left. */
    private static final Duration SERVER_VALIDITY = Duration.ofDays(1);

    /** A CA that expires within this time does not sign the server's certificate any more. */
    private static final Duration CA_MARGIN = Duration.ofMinutes(30);

    private static final int LEAST_RETRY_SECONDS = 5;
    private static final int MOST_RETRY_SECONDS = 20;

    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;
    private static final int TOO_MANY_REQUESTS = 429;

    private final OperatorConfig config;
    private final IdentityCa ca;
    private final KubernetesClient client;
    private final MeterRegistry meters;
    private final InstantSource clock;
    private final TokenReviews reviews;
    private final DenialEvents denials;
    private final ServedKeys keys = new ServedKeys();
    private final LogInterval refusals = new LogInterval(Duration.ofSeconds(1), System::nanoTime);

    private @Nullable KeyPair serverKey;
    private @Nullable X509Certificate served;
    private @Nullable HttpsListener listener;
    private volatile int port;

    @Inject
    public IdentityServer(
            OperatorConfig config, IdentityCa ca, KubernetesClient client, EventRecorder events, MeterRegistry meters) {
        this(config, ca, client, events, meters, InstantSource.system());
    }

    IdentityServer(
            OperatorConfig config,
            IdentityCa ca,
            KubernetesClient client,
            EventRecorder events,
            MeterRegistry meters,
            InstantSource clock) {
        this.config = config;
        this.ca = ca;
        this.client = client;
        this.meters = meters;
        this.clock = clock;
        this.reviews = new TokenReviews(client);
        this.denials = new DenialEvents(events);
    }

    /** Starts to follow the CAs, and to listen as soon as there is one. Does nothing if identities are switched off. */
    public void start() {
        ca.onCheck(this::refresh);
        ca.start();
    }

    /** Returns the port, or 0 while the service does not listen. */
    int port() {
        return port;
    }

    /** Returns the certificate of the server. */
    synchronized X509Certificate certificate() {
        return Objects.requireNonNull(served);
    }

    /** Renews the server's certificate if it is time, and starts to listen at the first call. */
    synchronized void refresh() {
        Optional<Authorities> authorities = ca.authorities();
        if (authorities.isEmpty()) {
            return;
        }
        Instant now = clock.instant();
        Authority issuer = authorities.get().oldest(now.plus(CA_MARGIN));
        if (serverKey == null) {
            serverKey = CertificateBuilder.newKeys();
        }
        if (served == null || isDue(served, issuer, now)) {
            served = CertificateIssuer.server(issuer, serverKey.getPublic(), names(), now, SERVER_VALIDITY);
            keys.serve(serverKey.getPrivate(), List.of(served));
        }
        if (listener == null) {
            listen();
        }
    }

    private static boolean isDue(X509Certificate served, Authority issuer, Instant now) {
        return !served.getIssuerX500Principal().equals(issuer.certificate().getSubjectX500Principal())
                || now.isAfter(served.getNotAfter().toInstant().minus(SERVER_VALIDITY.dividedBy(2)));
    }

    private List<String> names() {
        List<String> names = new ArrayList<>(List.of(ca.serviceName(), ca.serviceName() + ".cluster.local"));
        config.identity().certificateNames().ifPresent(names::addAll);
        return names;
    }

    private void listen() {
        Limits limits = new Limits(
                config.identity().connections(),
                MAX_PENDING_OCTETS,
                MAX_REQUEST_OCTETS,
                REQUEST_TIMEOUT,
                Duration.ZERO,
                Duration.ZERO);
        listener = new HttpsListener(
                "identity", limits, keys, this, meters.counter("sidewarp.operator.identity.cut.off")::increment);
        listener.startPatiently(
                config.identity().host(),
                config.identity().port(),
                bound -> {
                    port = bound;
                    LOG.infof("event=identity-service-listening port=%d", bound);
                },
                reason -> LOG.errorf(
                        "event=identity-service-not-listening host=%s port=%d reason=%s action=\"free the port, or set"
                                + " sidewarp.operator.identity.port\"",
                        config.identity().host(), config.identity().port(), LogText.quoted(reason)));
    }

    @Override
    public Optional<Answer> refuse(HttpRequest head) {
        String path = new QueryStringDecoder(head.uri()).path();
        if (HttpMethod.GET.equals(head.method()) && path.equals(BUNDLE)) {
            return Optional.empty();
        }
        if (!HttpMethod.POST.equals(head.method()) || !(path.equals(CERTIFICATES) || path.equals(DENIALS))) {
            return Optional.of(Answer.text(
                    NOT_FOUND, "POST a certificate signing request to " + CERTIFICATES + ", or GET " + BUNDLE));
        }
        return token(head).isPresent()
                ? Optional.empty()
                : Optional.of(
                        refused("token", UNAUTHORIZED, "the request has no token; send Authorization: Bearer TOKEN"));
    }

    private static Optional<String> token(HttpRequest head) {
        return Optional.ofNullable(head.headers().get(HttpHeaderNames.AUTHORIZATION))
                .filter(value -> value.startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
    }

    @Override
    public Answer answer(HttpRequest head, byte[] body) throws InterruptedException {
        Optional<Authorities> authorities = ca.authorities();
        if (authorities.isEmpty()) {
            return unavailable("there is no CA yet");
        }
        if (HttpMethod.GET.equals(head.method())) {
            return new Answer(
                    200,
                    "application/pem-certificate-chain",
                    authorities.get().bundle().getBytes(StandardCharsets.US_ASCII),
                    Duration.ZERO);
        }
        if (new QueryStringDecoder(head.uri()).path().equals(DENIALS)) {
            return tell(token(head).orElse(""), body);
        }
        PublicKey key;
        try {
            key = SigningRequest.keyOf(body);
        } catch (IllegalArgumentException e) {
            return refused("request", BAD_REQUEST, String.valueOf(e.getMessage()));
        }
        return switch (reviews.review(token(head).orElse(""))) {
            case TokenReviews.Accepted accepted -> issue(authorities.get(), key, accepted.caller());
            case TokenReviews.Refused refused ->
                refused("token", UNAUTHORIZED, "the token was refused: " + refused.reason());
            case TokenReviews.Unavailable unavailable -> unavailable(unavailable.reason());
        };
    }

    private Answer tell(String token, byte[] body) throws InterruptedException {
        DenialEvents.@Nullable Report report;
        try {
            report = client.getKubernetesSerialization()
                    .unmarshal(new String(body, StandardCharsets.UTF_8), DenialEvents.Report.class);
        } catch (IllegalArgumentException | KubernetesClientException e) {
            return refused("request", BAD_REQUEST, DenialEvents.FORMAT);
        }
        return switch (reviews.review(token)) {
            case TokenReviews.Accepted accepted ->
                denials.tell(accepted.caller(), report, clock.instant())
                        ? Answer.json(new byte[] {'{', '}'})
                        : Answer.text(TOO_MANY_REQUESTS, "the pod had an event just now; report again later");
            case TokenReviews.Refused refused ->
                refused("token", UNAUTHORIZED, "the token was refused: " + refused.reason());
            case TokenReviews.Unavailable unavailable -> unavailable(unavailable.reason());
        };
    }

    private Answer issue(Authorities authorities, PublicKey key, Caller caller) {
        Instant now = clock.instant();
        String id = caller.spiffeId(config.identity().trustDomain());
        X509Certificate certificate = CertificateIssuer.sidecar(
                authorities.signer(now), key, id, now, config.identity().certificateValidity());
        Instant expiry = certificate.getNotAfter().toInstant();
        TreeMap<String, String> answer = new TreeMap<>();
        answer.put("certificate", Pem.encode(List.of(certificate)));
        answer.put("trustBundle", authorities.bundle());
        answer.put("spiffeId", id);
        answer.put("expires", expiry.toString());
        LOG.infof(
                "event=identity-issued id=%s pod=%s serial=%s expires=%s",
                id, LogText.quoted(caller.pod()), certificate.getSerialNumber().toString(16), expiry);
        meters.counter("sidewarp.operator.identity.issued").increment();
        return Answer.json(client.getKubernetesSerialization().asJson(answer).getBytes(StandardCharsets.UTF_8));
    }

    private Answer unavailable(String reason) {
        Answer answer = refused("unavailable", UNAVAILABLE, reason);
        // Sidecars that were refused together come back at different times.
        int seconds = ThreadLocalRandom.current().nextInt(LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS);
        return new Answer(answer.status(), answer.type(), answer.body(), Duration.ofSeconds(seconds));
    }

    private Answer refused(String kind, int status, String reason) {
        meters.counter("sidewarp.operator.identity.refused", "reason", kind).increment();
        refusals.next()
                .ifPresent(omitted -> LOG.warnf(
                        "event=identity-refused kind=%s reason=%s omitted=%d", kind, LogText.quoted(reason), omitted));
        return Answer.text(status, reason);
    }

    /** Ends after the webhook, whose shutdown waits until clients know about it. */
    void end(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE + 1) ShutdownEvent event) {
        HttpsListener listening = listener();
        if (listening != null) {
            try {
                listening.drain();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        close();
    }

    private synchronized @Nullable HttpsListener listener() {
        return listener;
    }

    @Override
    public void close() {
        ca.close();
        HttpsListener listening = listener();
        if (listening != null) {
            listening.close();
        }
    }
}
