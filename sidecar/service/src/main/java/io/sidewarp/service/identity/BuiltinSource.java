// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.sidewarp.common.FailureText;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.engine.net.tls.TlsCredentials;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gets the certificate from the CA of the controller: proves the pod's service account by its projected token, and asks
 * for a certificate of a new key, which never leaves this process. Asks again at about two thirds of the certificate's
 * lifetime. Each answer also has the CAs to trust from then on, for peers and for the controller itself.
 */
final class BuiltinSource implements CertificateSource {

    private static final String TOKEN = "token";
    private static final String PATH = "/v1/certificates";
    private static final String DENIALS_PATH = "/v1/denials";
    private static final Duration DENIALS_INTERVAL = Duration.ofMinutes(1);
    private static final String JSON_CERTIFICATE = "certificate";
    private static final String JSON_BUNDLE = "trustBundle";
    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    private static final int MAX_TOKEN_OCTETS = 16 << 10;
    private static final int MAX_ANSWER_OCTETS = 256 << 10;
    private static final int MAX_REASON = 200;
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int UNAVAILABLE = 503;

    private final URI issuer;
    private final Path token;
    private final Clock clock;
    private final Duration firstDelay;
    private final Duration longestDelay;
    /** CAs of the last answer. Used only by the thread of the identity. */
    private List<X509Certificate> bundle;

    private Duration nextDelay;
    private volatile @Nullable DenialReports denials;
    private volatile boolean closed;

    /**
     * Creates a source.
     *
     * @param issuer URL of the controller's identity service
     * @param directory directory with the projected token
     * @param bundle CAs of the controller when the pod was created
     */
    BuiltinSource(
            URI issuer,
            Path directory,
            List<X509Certificate> bundle,
            Clock clock,
            Duration firstDelay,
            Duration longestDelay) {
        this.issuer = issuer;
        this.token = directory.resolve(TOKEN);
        this.bundle = bundle;
        this.clock = clock;
        this.firstDelay = firstDelay;
        this.longestDelay = longestDelay;
        this.nextDelay = firstDelay;
    }

    /** A failed attempt: what is wrong, what to do, and the time for which the controller wants to be left alone. */
    private static final class AttemptException extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Duration retryAfter;

        AttemptException(String message, Duration retryAfter, @Nullable Throwable cause) {
            super(message, cause);
            this.retryAfter = retryAfter;
        }

        AttemptException(String message, @Nullable Throwable cause) {
            this(message, Duration.ZERO, cause);
        }
    }

    @Override
    public void start(ScheduledExecutorService thread, Receiver receiver) {
        denials = new DenialReports(thread, DENIALS_INTERVAL.toMillis(), this::report);
        thread.execute(() -> renew(thread, receiver));
    }

    @Override
    public void onDenied(String message) {
        DenialReports reports = denials;
        if (reports != null) {
            reports.add(message);
        }
    }

    private boolean report(String report) throws InterruptedException {
        try {
            return send(DENIALS_PATH, "application/json", report).statusCode() == OK;
        } catch (AttemptException e) {
            // The same problem prevents the renewal of the certificate, which is logged.
            return false;
        }
    }

    @Override
    public void close() {
        closed = true;
    }

    private void renew(ScheduledExecutorService thread, Receiver receiver) {
        Duration wait;
        try {
            TlsCredentials credentials = fetch();
            receiver.onCredentials(credentials);
            nextDelay = firstDelay;
            wait = untilRenewal(Duration.between(clock.instant(), credentials.expiry()));
        } catch (AttemptException e) {
            receiver.onProblem(String.valueOf(e.getMessage()));
            wait = failureDelay(e.retryAfter);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } catch (RuntimeException e) {
            receiver.onProblem("no certificate can be requested of the controller at " + issuer + ": " + e);
            wait = failureDelay(Duration.ZERO);
        }
        if (closed) {
            return;
        }
        try {
            thread.schedule(() -> renew(thread, receiver), wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile.
        }
    }

    /** Returns 0.6 to 0.67 of a time. Sidecars that started together renew at different times. */
    static Duration untilRenewal(Duration left) {
        return scaled(left, 0.6, 2.0 / 3);
    }

    private Duration failureDelay(Duration retryAfter) {
        Duration delay = nextDelay.compareTo(retryAfter) > 0 ? nextDelay : retryAfter;
        Duration doubled = nextDelay.multipliedBy(2);
        nextDelay = doubled.compareTo(longestDelay) > 0 ? longestDelay : doubled;
        return scaled(delay, 0.5, 1.5);
    }

    private static Duration scaled(Duration duration, double least, double most) {
        return Duration.ofMillis(
                (long) (duration.toMillis() * ThreadLocalRandom.current().nextDouble(least, most)));
    }

    private TlsCredentials fetch() throws AttemptException, InterruptedException {
        KeyPair keys = CertificateBuilder.newKeys();
        JsonObject answer = ask(Pem.encode("CERTIFICATE REQUEST", CertificateBuilder.request(keys, "sidewarp")));
        try {
            List<X509Certificate> chain =
                    Pem.certificates(answer.get(JSON_CERTIFICATE).getAsString());
            List<X509Certificate> authorities =
                    Pem.certificates(answer.get(JSON_BUNDLE).getAsString());
            TlsCredentials credentials = Credentials.of(
                    keys.getPrivate(), chain, Map.of(Credentials.id(chain).trustDomain(), authorities), clock);
            bundle = authorities;
            return credentials;
        } catch (IllegalArgumentException e) {
            throw new AttemptException(
                    "the controller at " + issuer + " delivers a certificate that cannot be used: " + e.getMessage(),
                    e);
        }
    }

    private JsonObject ask(String request) throws AttemptException, InterruptedException {
        HttpResponse<String> answer = send(PATH, "application/x-pem-file", request);
        String reason = answer.body().strip();
        String shown = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
        switch (answer.statusCode()) {
            case OK -> {
                try {
                    JsonObject json = JsonParser.parseString(reason).getAsJsonObject();
                    if (json.has(JSON_CERTIFICATE) && json.has(JSON_BUNDLE)) {
                        return json;
                    }
                } catch (JsonParseException | IllegalStateException e) {
                    // Reported below.
                }
                throw new AttemptException(
                        "the answer of " + issuer + " has no certificate; set sidewarp.identity.issuer to the identity"
                                + " service of the controller",
                        null);
            }
            case UNAUTHORIZED ->
                throw new AttemptException(
                        "the controller at " + issuer + " refused the token in " + token + " (" + shown
                                + "); mount a token of the audience sidewarp, and check that the pod and its service"
                                + " account exist",
                        null);
            case UNAVAILABLE ->
                throw new AttemptException(
                        "the controller at " + issuer + " cannot sign now (" + shown + "); it is asked again",
                        Duration.ofSeconds(
                                answer.headers().firstValueAsLong("retry-after").orElse(0)),
                        null);
            default ->
                throw new AttemptException(
                        "the controller at " + issuer + " answered with status " + answer.statusCode() + " (" + shown
                                + "); check sidewarp.identity.issuer, and that sidecar and controller have versions that"
                                + " fit",
                        null);
        }
    }

    private HttpResponse<String> send(String path, String type, String request)
            throws AttemptException, InterruptedException {
        String bearer = readToken();
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(trusting(bundle))
                .connectTimeout(TIMEOUT)
                .build()) {
            try {
                return client.send(
                        HttpRequest.newBuilder(issuer.resolve(path))
                                .timeout(TIMEOUT)
                                .header("Authorization", "Bearer " + bearer)
                                .header("Content-Type", type)
                                .POST(HttpRequest.BodyPublishers.ofString(request, StandardCharsets.UTF_8))
                                .build(),
                        HttpResponse.BodyHandlers.limiting(
                                HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8), MAX_ANSWER_OCTETS));
            } finally {
                client.shutdownNow();
            }
        } catch (SSLException e) {
            throw new AttemptException(untrusted(e), e);
        } catch (IOException e) {
            throw new AttemptException(
                    "the controller at " + issuer + " does not answer (" + FailureText.reason(e)
                            + "); start the controller, and let this pod" + " reach it (NetworkPolicies, DNS)",
                    e);
        } catch (GeneralSecurityException e) {
            throw new AttemptException("the CAs of the controller cannot be used: " + e.getMessage(), e);
        }
    }

    private String untrusted(SSLException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException) {
                return "the certificate of the controller at " + issuer + " is not of a CA that this pod knows ("
                        + cause.getMessage() + "); restart the pod to get the present CAs, or set the clocks of both"
                        + " hosts";
            }
        }
        return "TLS with the controller at " + issuer + " fails (" + e.getMessage()
                + "); set sidewarp.identity.issuer to" + " the name and port of the identity service";
    }

    /** Reads the token anew each time: the kubelet replaces it. */
    private String readToken() throws AttemptException {
        try {
            if (Files.size(token) > MAX_TOKEN_OCTETS) {
                throw new AttemptException(
                        token + " has more than " + MAX_TOKEN_OCTETS + " bytes; mount a service account token there",
                        null);
            }
            String text = Files.readString(token, StandardCharsets.US_ASCII).strip();
            if (text.isEmpty() || text.chars().anyMatch(c -> c <= ' ' || c > '~')) {
                throw new AttemptException(token + " has no token; mount a service account token there", null);
            }
            return text;
        } catch (IOException e) {
            throw new AttemptException(
                    token + " cannot be read (" + FailureText.reason(e)
                            + "); mount a service account token of the audience sidewarp there, or"
                            + " set sidewarp.identity.directory",
                    e);
        }
    }

    private static SSLContext trusting(List<X509Certificate> authorities) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int number = 0;
        for (X509Certificate authority : authorities) {
            store.setCertificateEntry("ca" + number++, authority);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
