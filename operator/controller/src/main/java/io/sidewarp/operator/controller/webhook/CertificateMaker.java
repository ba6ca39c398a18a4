// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.pki.Pki;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Creates server certificates, each with a certificate authority of its own. The authority's key is discarded at once,
 * so that nobody can create a second certificate in its name.
 */
final class CertificateMaker {
    private CertificateMaker() {}

    /**
     * Creates a certificate.
     *
     * @param names DNS names or IP addresses of the server; the first name is also the common name
     * @param formerAuthorities authorities that remain trusted, in PEM; empty for none
     */
    static WebhookCertificate make(List<String> names, Instant now, Duration validity, String formerAuthorities) {
        Instant from = now.minus(Pki.CLOCK_SKEW);
        Instant until = now.plus(validity);
        KeyPair authorityKeys = CertificateBuilder.newKeys();
        X509Certificate authority = new CertificateBuilder(
                        authorityKeys.getPublic(),
                        "Sidewarp webhook authority " + Long.toHexString(now.getEpochSecond()))
                .authority()
                .validity(from, until)
                .selfSigned(authorityKeys.getPrivate());
        KeyPair serverKeys = CertificateBuilder.newKeys();
        X509Certificate server = new CertificateBuilder(serverKeys.getPublic(), names.getFirst())
                .serverOnly()
                .hosts(names)
                .validity(from, until)
                .signedBy(authority, authorityKeys.getPrivate());
        return new WebhookCertificate(
                Pem.encode(List.of(server)),
                Pem.encode(serverKeys.getPrivate()),
                Pem.encode(List.of(authority)) + formerAuthorities);
    }
}
