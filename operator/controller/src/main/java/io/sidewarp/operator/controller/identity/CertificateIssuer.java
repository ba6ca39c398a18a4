// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.operator.controller.pki.Pki;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;

/** Signs certificates with a CA. No certificate outlives its CA. */
final class CertificateIssuer {
    /**
     * Subject of all certificates. There is no common name, because TLS libraries accept one as a host name where a
     * certificate has no DNS name. A service account could have the name of the identity service.
     */
    private static final X500Name SUBJECT = new X500Name("O=Sidewarp");

    private CertificateIssuer() {}

    /**
     * Signs the certificate of a sidecar (X.509-SVID), for both sides of TLS.
     *
     * @param spiffeId the only name
     */
    static X509Certificate sidecar(
            Authority authority, PublicKey key, String spiffeId, Instant now, Duration validity) {
        return sign(authority, new CertificateBuilder(key, SUBJECT).uri(spiffeId), now, validity);
    }

    /** Signs the certificate of the identity service for its DNS names or IP addresses. */
    static X509Certificate server(
            Authority authority, PublicKey key, List<String> names, Instant now, Duration validity) {
        return sign(authority, new CertificateBuilder(key, SUBJECT).serverOnly().hosts(names), now, validity);
    }

    private static X509Certificate sign(
            Authority authority, CertificateBuilder certificate, Instant now, Duration validity) {
        Instant wanted = now.plus(validity);
        Instant until = wanted.isAfter(authority.expiry()) ? authority.expiry() : wanted;
        return certificate
                .validity(now.minus(Pki.CLOCK_SKEW), until)
                .signedBy(authority.certificate(), authority.key());
    }
}
