// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Rejects values of settings that cannot work, although their types allow them. */
public final class SettingRules {
    /**
     * Largest number of bytes of one review. The value is twice the API server's limit of an object, because a review
     * contains the object and its former state.
     */
    public static final int MAX_REVIEW_OCTETS = 6 << 20;

    /** Smallest validity of a certificate. Clocks may differ by some minutes. */
    private static final Duration LEAST_VALIDITY = Duration.ofMinutes(15);

    /** Largest validity of a certificate, which cannot encode years with more than four digits. */
    private static final Duration MOST_VALIDITY = Duration.ofDays(36_500);

    /**
     * Smallest ratio of validity to switch delay. A certificate is replaced when a third of its validity is left, and
     * half of that third is reserved for everything but the delay.
     */
    private static final int VALIDITY_PER_DELAY = 6;

    /** Smallest validity of a sidecar's certificate. */
    private static final Duration LEAST_LEAF_VALIDITY = Duration.ofMinutes(10);

    /** Smallest ratio of a CA's validity to that of its certificates. The times of a CA need it. */
    private static final int CA_PER_CERTIFICATE = 8;

    /** Trust domain of SPIFFE, section 2.1 of its specification. */
    private static final Pattern TRUST_DOMAIN = Pattern.compile("[a-z0-9._-]{1,255}");

    private SettingRules() {}

    /** Returns the problems of the settings, each with the values that are allowed. */
    public static List<String> problems(OperatorConfig config) {
        List<String> problems = new ArrayList<>();
        OperatorConfig.Webhook webhook = config.webhook();
        if (webhook.manageCertificate()) {
            Duration validity = webhook.certificateValidity();
            Duration delay = webhook.certificateSwitchDelay();
            if (validity.compareTo(LEAST_VALIDITY) < 0 || validity.compareTo(MOST_VALIDITY) > 0) {
                problems.add("sidewarp.operator.webhook.certificate-validity is " + seconds(validity)
                        + "; allowed: 15m to 36500d");
            } else if (delay.multipliedBy(VALIDITY_PER_DELAY).compareTo(validity) > 0) {
                problems.add("sidewarp.operator.webhook.certificate-switch-delay is " + seconds(delay)
                        + ": a certificate would expire before the next one is served; allowed: a sixth of"
                        + " sidewarp.operator.webhook.certificate-validity, which is " + seconds(validity));
            }
            if (delay.isNegative()) {
                problems.add("sidewarp.operator.webhook.certificate-switch-delay is " + seconds(delay)
                        + "; allowed: 0s and more");
            }
        }
        if (webhook.connections() < 1) {
            problems.add("sidewarp.operator.webhook.connections is " + webhook.connections() + "; allowed: 1 and more");
        }
        if (webhook.pendingOctets() < MAX_REVIEW_OCTETS) {
            problems.add("sidewarp.operator.webhook.pending-octets is " + webhook.pendingOctets() + "; allowed: "
                    + MAX_REVIEW_OCTETS + ", which the largest review takes, and more");
        }
        positive("sidewarp.operator.webhook.request-timeout", webhook.requestTimeout(), problems);
        positive("sidewarp.operator.webhook.idle-timeout", webhook.idleTimeout(), problems);
        if (webhook.shutdownDelay().isNegative()) {
            problems.add("sidewarp.operator.webhook.shutdown-delay is " + seconds(webhook.shutdownDelay())
                    + "; allowed: 0s and more");
        }
        identity(config.identity(), problems);
        Duration lease = config.leaderElection().duration();
        if (!lease.isPositive() || !lease.equals(lease.truncatedTo(ChronoUnit.SECONDS))) {
            // The lease stores its duration in whole seconds.
            problems.add("sidewarp.operator.leader-election.duration is " + lease.toMillis()
                    + "ms; allowed: whole seconds, 1s and more");
        }
        return problems;
    }

    private static void identity(OperatorConfig.Identity identity, List<String> problems) {
        if (!identity.enabled()) {
            return;
        }
        if (!TRUST_DOMAIN.matcher(identity.trustDomain()).matches()) {
            problems.add("sidewarp.operator.identity.trust-domain is " + identity.trustDomain()
                    + "; allowed: lower-case letters, digits, dots, dashes and underscores, as in cluster.local");
        }
        if (identity.connections() < 1) {
            problems.add(
                    "sidewarp.operator.identity.connections is " + identity.connections() + "; allowed: 1 and more");
        }
        Duration validity = identity.certificateValidity();
        if (validity.compareTo(LEAST_LEAF_VALIDITY) < 0) {
            problems.add("sidewarp.operator.identity.certificate-validity is " + seconds(validity)
                    + "; allowed: 10m and more");
        }
        Duration ca = identity.caValidity();
        if (ca.compareTo(MOST_VALIDITY) > 0 || ca.compareTo(validity.multipliedBy(CA_PER_CERTIFICATE)) < 0) {
            problems.add("sidewarp.operator.identity.ca-validity is " + seconds(ca)
                    + "; allowed: eight times sidewarp.operator.identity.certificate-validity, which is "
                    + seconds(validity) + ", to 36500d");
        }
    }

    private static void positive(String name, Duration value, List<String> problems) {
        if (!value.isPositive()) {
            problems.add(name + " is " + seconds(value) + "; allowed: more than 0s");
        }
    }

    private static String seconds(Duration value) {
        return value.toSeconds() + "s";
    }
}
