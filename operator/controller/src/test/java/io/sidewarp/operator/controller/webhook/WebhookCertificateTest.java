// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebhookCertificateTest {
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
    private static final Duration VALIDITY = Duration.ofDays(90);

    @Test
    void theServerCertificateIsOfItsAuthorityAndForItsNames() throws Exception {
        WebhookCertificate made = CertificateMaker.make(List.of("a.b.svc", "127.0.0.1"), NOW, VALIDITY, "");

        X509Certificate server = parse(made.certificate()).getFirst();
        X509Certificate authority = parse(made.authorities()).getFirst();
        server.verify(authority.getPublicKey());
        assertThat(authority.getBasicConstraints()).isZero();
        assertThat(server.getBasicConstraints()).isEqualTo(-1);
        assertThat(server.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
        Collection<List<?>> names = server.getSubjectAlternativeNames();
        assertThat(names).anySatisfy(name -> assertThat(name.get(1)).isEqualTo("a.b.svc"));
        assertThat(names).anySatisfy(name -> assertThat(name.get(1)).isEqualTo("127.0.0.1"));
    }

    @Test
    void itIsDueWhenAThirdOfItsValidityIsLeft() {
        WebhookCertificate made = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");

        assertThat(made.isDue(NOW, List.of("a"))).isFalse();
        assertThat(made.isDue(NOW.plus(Duration.ofDays(59)), List.of("a"))).isFalse();
        assertThat(made.isDue(NOW.plus(Duration.ofDays(61)), List.of("a"))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        // validity, seconds until it is looked at again; five minutes of the validity are over from the start
        "15m, 505",
        "60m, 2305",
        "90m, 3505",
        "95m, 3600",
        "8760h, 3600",
    })
    void itIsLookedAtEachHourAndWhenItIsDue(String validity, long seconds) {
        WebhookCertificate made =
                CertificateMaker.make(List.of("a"), NOW, Duration.parse("PT" + validity.toUpperCase(Locale.ROOT)), "");

        Duration wait = CertificateStore.untilNextCheck(NOW, made.dueAt());

        assertThat(wait).isEqualTo(Duration.ofSeconds(seconds));
        assertThat(made.isDue(NOW.plus(wait), List.of("a"))).isEqualTo(seconds < 3600);
    }

    @Test
    void oneThatIsDueAndCannotBeReplacedIsLookedAtAgainAfterAMoment() {
        assertThat(CertificateStore.untilNextCheck(NOW, NOW.minusSeconds(1))).isEqualTo(Duration.ofSeconds(5));
        assertThat(CertificateStore.untilNextCheck(NOW, new WebhookCertificate("x", "y", "z").dueAt()))
                .isEqualTo(Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @CsvSource({
        // wanted, due
        "a.b.svc, false",
        "a.b.svc 10.0.0.1, false",
        "fd00::1 10.0.0.1, false",
        "fd00:0:0:0:0:0:0:1, false",
        "a.b.svc 10.0.0.2, true",
        "webhook.example.com, true",
    })
    void itIsDueWhenItLacksAName(String wanted, boolean due) {
        WebhookCertificate made = CertificateMaker.make(List.of("a.b.svc", "10.0.0.1", "fd00::1"), NOW, VALIDITY, "");

        assertThat(made.isDue(NOW, List.of(wanted.split(" ", -1)))).isEqualTo(due);
    }

    @Test
    void theFormerAuthorityRemainsTrustedUntilItExpires() throws Exception {
        WebhookCertificate first = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");
        Instant later = NOW.plus(Duration.ofDays(61));
        WebhookCertificate second = CertificateMaker.make(List.of("a"), later, VALIDITY, first.validAuthorities(later));

        assertThat(parse(second.authorities()))
                .hasSize(2)
                .contains(parse(first.authorities()).getFirst());
        assertThat(parse(second.validAuthorities(NOW.plus(Duration.ofDays(91)))))
                .hasSize(1);
    }

    @Test
    void onlyWhoKnowsItsAuthorityTrustsIt() {
        WebhookCertificate first = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");
        WebhookCertificate second = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");

        assertThat(first.isTrustedBy(first.authorities())).isTrue();
        assertThat(first.isTrustedBy(second.authorities() + first.authorities()))
                .isTrue();
        assertThat(first.isTrustedBy(second.authorities())).isFalse();
        assertThat(first.isTrustedBy("rubbish")).isFalse();
    }

    @Test
    void rubbishIsDue() {
        assertThat(new WebhookCertificate("x", "y", "z").isDue(NOW, List.of())).isTrue();
        assertThat(new WebhookCertificate("x", "y", "z").validAuthorities(NOW)).isEmpty();
    }

    @Test
    void onlyWithItsOwnKeyAndAuthorityIsItOfUse() {
        WebhookCertificate one = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");
        WebhookCertificate other = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");

        assertThat(one.isUsable()).isTrue();
        assertThat(CertificateMaker.make(List.of("a"), NOW, VALIDITY, one.authorities())
                        .isUsable())
                .isTrue();
        assertThat(new WebhookCertificate(one.certificate(), other.privateKey(), one.authorities()).isUsable())
                .isFalse();
        assertThat(new WebhookCertificate(one.certificate(), one.privateKey(), other.authorities()).isUsable())
                .isFalse();
        assertThat(new WebhookCertificate(one.certificate(), one.privateKey(), "").isUsable())
                .isFalse();
        assertThat(new WebhookCertificate(one.certificate(), "rubbish", one.authorities()).isUsable())
                .isFalse();
        assertThat(new WebhookCertificate("rubbish", one.privateKey(), one.authorities()).isUsable())
                .isFalse();
    }

    @Test
    void aSecretHoldsAllOfIt() {
        WebhookCertificate made = CertificateMaker.make(List.of("a"), NOW, VALIDITY, "");

        assertThat(WebhookCertificate.of(made.toSecret("ns", "name"))).contains(made);
        assertThat(made.toString()).doesNotContain("PRIVATE");
    }

    private static List<X509Certificate> parse(String pem) throws Exception {
        return CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)))
                .stream()
                .map(X509Certificate.class::cast)
                .toList();
    }
}
