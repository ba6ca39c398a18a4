// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuthoritiesTest {
    private static final String DOMAIN = "cluster.local";
    private static final Instant START = Instant.parse("2026-11-30T12:00:00Z");
    private static final Duration VALIDITY = Duration.ofDays(80);

    private final Authorities first = Authorities.create(DOMAIN, START, VALIDITY);

    @Test
    void firstCaSignsAtOnce() {
        assertThat(first.signer(START)).isEqualTo(first.list().getFirst());
        assertThat(first.renewed(DOMAIN, day(39), VALIDITY)).isEqualTo(first);
    }

    @Test
    void nextCaIsInTheBundleLongBeforeItSigns() {
        Authorities two = first.renewed(DOMAIN, day(40), VALIDITY);

        assertThat(two.list()).hasSize(2).startsWith(first.list().getFirst());
        assertThat(two.bundle())
                .startsWith(first.bundle())
                .hasSizeGreaterThan(first.bundle().length());
        assertThat(two.signer(day(59))).isEqualTo(first.list().getFirst());
        assertThat(two.signer(day(60))).isEqualTo(two.list().getLast());
        assertThat(two.renewed(DOMAIN, day(79), VALIDITY)).isEqualTo(two);
    }

    @Test
    void formerCaSignsTheServiceAndStaysInTheBundleUntilItExpires() {
        Authorities two = first.renewed(DOMAIN, day(40), VALIDITY);

        assertThat(two.oldest(day(79))).isEqualTo(first.list().getFirst());
        assertThat(two.oldest(day(80))).isEqualTo(two.list().getLast());
        Authorities three = two.renewed(DOMAIN, day(80), VALIDITY);
        assertThat(three.list()).hasSize(2).startsWith(two.list().getLast());
    }

    /** The controller may have been off for months. */
    @Test
    void caThatIsNotKnownYetSignsOnlyIfNoOtherIsValid() {
        Authorities late = first.renewed(DOMAIN, day(79), VALIDITY);
        assertThat(late.signer(day(79))).isEqualTo(first.list().getFirst());
        assertThat(late.signer(day(81))).isEqualTo(late.list().getLast());

        Authorities afterAll = first.renewed(DOMAIN, day(200), VALIDITY);
        assertThat(afterAll.list()).hasSize(1);
        assertThat(afterAll.signer(day(200))).isEqualTo(afterAll.list().getFirst());
    }

    /** A sidecar has the bundle of the time at which it got its certificate. */
    @Test
    void allSidecarsTrustEachOtherAcrossRotations() {
        Duration step = Duration.ofDays(1);
        Deque<Issued> valid = new ArrayDeque<>();
        Set<Authority> signers = new HashSet<>();
        Authorities present = first;
        for (Instant now = START; now.isBefore(day(400)); now = now.plus(step)) {
            present = present.renewed(DOMAIN, now, VALIDITY);
            Authority signer = present.signer(now);
            signers.add(signer);
            valid.addLast(new Issued(now, signer, present.list()));
            // The longest validity of a certificate is an eighth of its CA's.
            Instant oldest = now.minus(VALIDITY.dividedBy(8));
            valid.removeIf(certificate -> !certificate.at().isAfter(oldest));
            assertThat(valid)
                    .allSatisfy(one -> assertThat(valid)
                            .allSatisfy(other -> assertThat(one.bundle()).contains(other.signer())));
            assertThat(signer.expiry()).isAfterOrEqualTo(now.plus(VALIDITY.dividedBy(8)));
        }
        assertThat(signers).hasSizeGreaterThan(5);
    }

    private record Issued(Instant at, Authority signer, List<Authority> bundle) {}

    @Test
    void secretKeepsCertificatesAndKeys() {
        Authorities two = first.renewed(DOMAIN, day(40), VALIDITY);
        Secret secret = two.toSecret("sidewarp-system", "sidewarp-identity-ca");

        assertThat(Authorities.of(secret)).isEqualTo(two);
        assertThat(two.toString()).doesNotContain("PRIVATE");
    }

    @Test
    void certificateIsThatOfACaOfTheTrustDomain() throws Exception {
        X509Certificate certificate = first.list().getFirst().certificate();

        certificate.verify(certificate.getPublicKey());
        assertThat(certificate.getBasicConstraints()).isZero();
        assertThat(certificate.getKeyUsage())
                .containsExactly(false, false, false, false, false, true, true, false, false);
        assertThat(certificate.getSubjectAlternativeNames())
                .singleElement()
                .isEqualTo(List.of(6, "spiffe://cluster.local"));
        assertThat(certificate.getNotBefore()).isBefore(START);
        assertThat(certificate.getNotAfter()).isEqualTo(day(80));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ca.crt | rubbish | ca.crt has 0 certificates, and ca.key has 1 keys; each CA needs both
                    ca.key | rubbish | ca.crt has 1 certificates, and ca.key has 0 keys; each CA needs both
                    ca.key | other   | key 1 of ca.key does not belong to
                    """)
    void secretOfAnotherWriterIsRefused(String part, String content, String message) {
        Secret secret = first.toSecret("n", "s");
        String data = content.equals("other")
                ? Authorities.create(DOMAIN, START, VALIDITY)
                        .toSecret("n", "s")
                        .getData()
                        .get(part)
                : "cnViYmlzaA==";
        Secret broken = new SecretBuilder(secret).addToData(part, data).build();

        assertThatThrownBy(() -> Authorities.of(broken))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
        assertThatThrownBy(() -> Authorities.of(
                        new SecretBuilder(secret).removeFromData(part).build()))
                .hasMessage(part + " is missing");
    }

    private static Instant day(int number) {
        return START.plus(Duration.ofDays(number));
    }
}
