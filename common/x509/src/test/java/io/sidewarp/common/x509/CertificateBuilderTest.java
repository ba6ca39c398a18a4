// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
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
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AuthorityKeyIdentifier;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.SubjectKeyIdentifier;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequest;
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
                .host("cart.shop.svc")
                .host("192.0.2.1")
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
    void keyOfCaHasTheIdentifierThatTheCaChose() throws Exception {
        X500Name name = new X500Name("CN=CA of another program");
        X509v3CertificateBuilder foreign = new JcaX509v3CertificateBuilder(
                name,
                BigInteger.ONE,
                Date.from(start),
                Date.from(start.plusSeconds(60)),
                name,
                authorityKeys.getPublic());
        foreign.addExtension(Extension.subjectKeyIdentifier, false, new SubjectKeyIdentifier(new byte[] {1, 2, 3}));
        X509Certificate issuer = new JcaX509CertificateConverter()
                .getCertificate(foreign.build(
                        new JcaContentSignerBuilder("SHA256withECDSA").build(authorityKeys.getPrivate())));

        X509Certificate leaf = new CertificateBuilder(
                        CertificateBuilder.newKeys().getPublic(), "leaf")
                .signedBy(issuer, authorityKeys.getPrivate());

        assertThat(AuthorityKeyIdentifier.fromExtensions(new JcaX509CertificateHolder(leaf).getExtensions())
                        .getKeyIdentifierOctets())
                .containsExactly(1, 2, 3);
    }

    @Test
    void certificateOfServerIsForServersOnly() throws Exception {
        X509Certificate server = new CertificateBuilder(authorityKeys.getPublic(), "server")
                .serverOnly()
                .hosts(List.of("localhost", "2001:db8::1"))
                .selfSigned(authorityKeys.getPrivate());

        assertThat(server.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
        assertThat(server.getSubjectAlternativeNames())
                .containsExactly(List.of(2, "localhost"), List.of(7, "2001:db8:0:0:0:0:0:1"));
    }

    @Test
    void requestProvesPossessionOfItsKey() throws Exception {
        KeyPair keys = CertificateBuilder.newKeys();

        JcaPKCS10CertificationRequest request =
                new JcaPKCS10CertificationRequest(CertificateBuilder.request(keys, "sidewarp"));

        assertThat(request.getPublicKey()).isEqualTo(keys.getPublic());
        assertThat(request.getSubject()).hasToString("CN=sidewarp");
        assertThat(request.isSignatureValid(new JcaContentVerifierProviderBuilder().build(keys.getPublic())))
                .isTrue();
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
            builder.host("name-" + i + ".example.org");
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
