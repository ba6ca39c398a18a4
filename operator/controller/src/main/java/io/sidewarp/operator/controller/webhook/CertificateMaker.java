// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;

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
        try {
            Date from = Date.from(now.minus(Pki.CLOCK_SKEW));
            Date until = Date.from(now.plus(validity));
            KeyPair authorityKeys = CertificateBuilder.newKeys();
            X500Name authority =
                    new X500Name("CN=Sidewarp webhook authority " + Long.toHexString(now.getEpochSecond()));
            X509v3CertificateBuilder root = new JcaX509v3CertificateBuilder(
                    authority, Pki.serial(), from, until, authority, authorityKeys.getPublic());
            root.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
            root.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign));

            KeyPair serverKeys = CertificateBuilder.newKeys();
            X509v3CertificateBuilder server = new JcaX509v3CertificateBuilder(
                    authority,
                    Pki.serial(),
                    from,
                    until,
                    new X500Name("CN=" + commonName(names)),
                    serverKeys.getPublic());
            server.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            server.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
            server.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
            server.addExtension(
                    Extension.subjectAlternativeName,
                    false,
                    new GeneralNames(Pki.names(names).toArray(GeneralName[]::new)));

            return new WebhookCertificate(
                    Pem.encode(List.of(Pki.sign(server, authorityKeys.getPrivate()))),
                    Pem.encode("PRIVATE KEY", serverKeys.getPrivate().getEncoded()),
                    Pem.encode(List.of(Pki.sign(root, authorityKeys.getPrivate()))) + formerAuthorities);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("no certificate for " + names + " could be made", e);
        }
    }

    /** Returns the common name, which has at most 64 characters. */
    private static String commonName(List<String> names) {
        String first = names.getFirst();
        return first.length() <= 64 ? first : first.substring(0, 64);
    }
}
