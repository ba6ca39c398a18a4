// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CertificateBuilderTest {

    private final Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    private final KeyPair authorityKeys = CertificateBuilder.newKeys();
    private final X509Certificate authority = new CertificateBuilder(authorityKeys.getPublic(), "CA")
            .authority()
            .validity(start.minusSeconds(60), start.plusSeconds(3600))
            .uri("spiffe://example.org")
            .selfSigned(authorityKeys.getPrivate());

    @Test
    void javaVerifiesCertificateThatCaSigned() throws Exception {
        KeyPair keys = CertificateBuilder.newKeys();
        X509Certificate leaf = new CertificateBuilder(keys.getPublic(), "cart")
                .validity(start.minusSeconds(60), start.plusSeconds(60))
                .uri("spiffe://example.org/ns/shop/sa/cart")
                .dnsName("cart.shop.svc")
                .address(InetAddress.ofLiteral("192.0.2.1"))
                .signedBy(authority, authorityKeys.getPrivate());

        PKIXParameters trust = new PKIXParameters(Set.of(new TrustAnchor(authority, null)));
        trust.setRevocationEnabled(false);
        assertThatCode(() -> CertPathValidator.getInstance("PKIX")
                        .validate(CertificateFactory.getInstance("X.509").generateCertPath(List.of(leaf)), trust))
                .doesNotThrowAnyException();
        assertThat(leaf.getSubjectAlternativeNames())
                .containsExactly(
                        List.of(6, "spiffe://example.org/ns/shop/sa/cart"),
                        List.of(2, "cart.shop.svc"),
                        List.of(7, "192.0.2.1"));
        assertThat(leaf.getNotAfter().toInstant()).isEqualTo(start.plusSeconds(60));
        assertThat(leaf.getBasicConstraints()).isEqualTo(-1);
        assertThat(leaf.getKeyUsage()).startsWith(true, false);
        assertThat(leaf.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");
        // Identifier of the issuer's key: an octet string and a sequence around the same 20 octets.
        byte[] issuerKey = authority.getExtensionValue("2.5.29.14");
        assertThat(leaf.getExtensionValue("2.5.29.35")).endsWith(Arrays.copyOfRange(issuerKey, 4, 24));
    }

    @Test
    void caSignsCertificatesButNoCas() {
        assertThat(authority.getBasicConstraints()).isZero();
        assertThat(authority.getKeyUsage()[5]).isTrue();
        assertThat(authority.getKeyUsage()[0]).isFalse();
    }

    @Test
    void timesAfter2049AreKept() {
        X509Certificate late = new CertificateBuilder(authorityKeys.getPublic(), "late")
                .validity(Instant.parse("2049-12-31T23:59:59Z"), Instant.parse("2050-01-01T00:00:00Z"))
                .selfSigned(authorityKeys.getPrivate());

        assertThat(late.getNotBefore().toInstant()).isEqualTo("2049-12-31T23:59:59Z");
        assertThat(late.getNotAfter().toInstant()).isEqualTo("2050-01-01T00:00:00Z");
    }

    @Test
    void manyNamesNeedLongLengths() throws Exception {
        CertificateBuilder builder = new CertificateBuilder(authorityKeys.getPublic(), "n".repeat(100));
        for (int i = 0; i < 2000; i++) {
            builder.dnsName("name-" + i + ".example.org");
        }
        X509Certificate large = builder.selfSigned(authorityKeys.getPrivate());

        assertThat(large.getSubjectAlternativeNames()).hasSize(2000);
        assertThat(large.getSubjectX500Principal().getName()).isEqualTo("CN=" + "n".repeat(64));
    }

    @Test
    void rsaKeyCannotSign() throws Exception {
        KeyPair rsa = KeyPairGenerator.getInstance("RSA").generateKeyPair();

        assertThatThrownBy(() -> new CertificateBuilder(rsa.getPublic(), "rsa").selfSigned(rsa.getPrivate()))
                .hasMessageContaining("use an EC key");
    }
}
