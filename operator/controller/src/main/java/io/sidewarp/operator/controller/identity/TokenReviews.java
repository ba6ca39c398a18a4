// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Asks the API server about tokens, each time anew: a token ends with its pod. The number of questions at a time is
 * bounded, because anybody who reaches the port can cause them.
 */
final class TokenReviews {
    /** Audience of the tokens, which no other service accepts. */
    static final String AUDIENCE = "sidewarp";

    /** Questions at a time. An API server answers one in a few milliseconds. */
    private static final int AT_A_TIME = 32;

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int TIMEOUT_MILLIS = 5_000;

    /** A signed JSON Web Token (RFC 7519). */
    private static final Pattern TOKEN = Pattern.compile("[\\w-]+\\.[\\w-]+\\.[\\w-]+");

    private final KubernetesClient client;
    private final Semaphore questions = new Semaphore(AT_A_TIME, true);

    TokenReviews(KubernetesClient client) {
        RequestConfig once = new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                .withRequestRetryBackoffLimit(0)
                .withRequestTimeout(TIMEOUT_MILLIS)
                .build();
        // The new client must not be closed: it shares the connections.
        this.client = client.newClient(once).adapt(KubernetesClient.class);
    }

    /** Verdict about a token. */
    sealed interface Verdict {}

    record Accepted(Caller caller) implements Verdict {}

    record Refused(String reason) implements Verdict {}

    /** The token could not be checked. */
    record Unavailable(String reason) implements Verdict {}

    Verdict review(String token) throws InterruptedException {
        if (!TOKEN.matcher(token).matches()) {
            return new Refused("it is no token of a service account");
        }
        if (!questions.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            return new Unavailable("too many sidecars ask at a time");
        }
        try {
            return verdict(client.authentication()
                    .v1()
                    .tokenReviews()
                    .create(new TokenReviewBuilder()
                            .withNewSpec()
                            .withToken(token)
                            .withAudiences(AUDIENCE)
                            .endSpec()
                            .build())
                    .getStatus());
        } catch (KubernetesClientException e) {
            return new Unavailable("the API server did not check the token: " + e.getMessage());
        } finally {
            questions.release();
        }
    }

    private static Verdict verdict(TokenReviewStatus status) {
        return Caller.of(status, AUDIENCE)
                .<Verdict>map(Accepted::new)
                .orElseGet(() -> new Refused(
                        Boolean.TRUE.equals(status.getAuthenticated())
                                ? "it is not of a service account, or not of the audience " + AUDIENCE
                                : "the API server says: "
                                        + Objects.requireNonNullElse(status.getError(), "not authenticated")));
    }
}
