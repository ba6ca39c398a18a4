// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.common.x509.CertificateBuilder;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.function.UnaryOperator;

/** CA of a test for one trust domain. */
public final class TestAuthority {

    private static final Duration EARLIER = Duration.ofMinutes(1);

    private final String trustDomain;
    private final KeyPair keys = CertificateBuilder.newKeys();
    private final X509Certificate certificate;

    public TestAuthority(String trustDomain) {
        this.trustDomain = trustDomain;
        this.certificate = new CertificateBuilder(keys.getPublic(), "CA of " + trustDomain)
                .authority()
                .validity(Instant.now().minus(EARLIER), Instant.now().plus(Duration.ofDays(1)))
                .selfSigned(keys.getPrivate());
    }

    public X509Certificate certificate() {
        return certificate;
    }

    public PrivateKey key() {
        return keys.getPrivate();
    }

    /** A key with its certificate. */
    public record Leaf(PrivateKey key, X509Certificate certificate) {}

    /** Returns a certificate of a service account, valid for an hour. */
    public Leaf leaf(String serviceAccount) {
        return leaf(serviceAccount, Instant.now().minus(EARLIER), Instant.now().plus(Duration.ofHours(1)));
    }

    public Leaf leaf(String serviceAccount, Instant from, Instant to) {
        return sign(builder -> builder.validity(from, to).uri(id(serviceAccount)));
    }

    /** Returns a certificate of a new key. */
    public Leaf sign(UnaryOperator<CertificateBuilder> content) {
        KeyPair leafKeys = CertificateBuilder.newKeys();
        CertificateBuilder builder = content.apply(new CertificateBuilder(leafKeys.getPublic(), "leaf"));
        return new Leaf(leafKeys.getPrivate(), builder.signedBy(certificate, keys.getPrivate()));
    }

    public String id(String serviceAccount) {
        return "spiffe://" + trustDomain + "/ns/shop/sa/" + serviceAccount;
    }

    /** Returns a new directory with the identity of a service account, for the source {@code files}. */
    public TestIdentity identity(String serviceAccount) {
        TestIdentity identity = new TestIdentity();
        identity.write(leaf(serviceAccount), certificate);
        return identity;
    }
}
