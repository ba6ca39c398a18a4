// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
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
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;

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
        return sign(
                authority,
                key,
                new GeneralNames(new GeneralName(GeneralName.uniformResourceIdentifier, spiffeId)),
                new ExtendedKeyUsage(new KeyPurposeId[] {KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth}),
                now,
                validity);
    }

    /** Signs the certificate of the identity service for its DNS names or IP addresses. */
    static X509Certificate server(
            Authority authority, PublicKey key, List<String> names, Instant now, Duration validity) {
        return sign(
                authority,
                key,
                new GeneralNames(Pki.names(names).toArray(GeneralName[]::new)),
                new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth),
                now,
                validity);
    }

    private static X509Certificate sign(
            Authority authority,
            PublicKey key,
            GeneralNames names,
            ExtendedKeyUsage usage,
            Instant now,
            Duration validity) {
        Instant wanted = now.plus(validity);
        Instant until = wanted.isAfter(authority.expiry()) ? authority.expiry() : wanted;
        try {
            X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                    X500Name.getInstance(
                            authority.certificate().getSubjectX500Principal().getEncoded()),
                    Pki.serial(),
                    Date.from(now.minus(Pki.CLOCK_SKEW)),
                    Date.from(until),
                    SUBJECT,
                    key);
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
            builder.addExtension(Extension.extendedKeyUsage, false, usage);
            builder.addExtension(
                    Extension.authorityKeyIdentifier,
                    false,
                    new JcaX509ExtensionUtils()
                            .createAuthorityKeyIdentifier(
                                    authority.certificate().getPublicKey()));
            builder.addExtension(Extension.subjectAlternativeName, false, names);
            return Pki.sign(builder, authority.key());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("cannot sign a certificate with " + authority, e);
        }
    }
}
