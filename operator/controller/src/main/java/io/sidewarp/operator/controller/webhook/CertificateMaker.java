// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
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
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * Creates server certificates, each with a certificate authority of its own. The authority's key is discarded at once,
 * so that nobody can create a second certificate in its name.
 */
final class CertificateMaker {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(5);
    private static final int PEM_LINE = 64;

    private CertificateMaker() {}

    /**
     * Creates a certificate.
     *
     * @param names DNS names or IP addresses of the server; the first name is also the common name
     * @param formerAuthorities authorities that remain trusted, in PEM; empty for none
     */
    static WebhookCertificate make(List<String> names, Instant now, Duration validity, String formerAuthorities) {
        try {
            Date from = Date.from(now.minus(CLOCK_SKEW));
            Date until = Date.from(now.plus(validity));
            KeyPair authorityKeys = keyPair();
            X500Name authority =
                    new X500Name("CN=Sidewarp webhook authority " + Long.toHexString(now.getEpochSecond()));
            X509v3CertificateBuilder root = new JcaX509v3CertificateBuilder(
                    authority, serial(), from, until, authority, authorityKeys.getPublic());
            root.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
            root.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign));

            KeyPair serverKeys = keyPair();
            X509v3CertificateBuilder server = new JcaX509v3CertificateBuilder(
                    authority, serial(), from, until, new X500Name("CN=" + commonName(names)), serverKeys.getPublic());
            server.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            server.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
            server.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
            server.addExtension(
                    Extension.subjectAlternativeName,
                    false,
                    new GeneralNames(names(names).toArray(GeneralName[]::new)));

            return new WebhookCertificate(
                    pem("CERTIFICATE", sign(server, authorityKeys.getPrivate()).getEncoded()),
                    pem("PRIVATE KEY", serverKeys.getPrivate().getEncoded()),
                    pem("CERTIFICATE", sign(root, authorityKeys.getPrivate()).getEncoded()) + formerAuthorities);
        } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
            throw new IllegalStateException("no certificate for " + names + " could be made", e);
        }
    }

    /** Returns DNS names or IP addresses in the form of a certificate, independent of how an address is written. */
    static List<GeneralName> names(List<String> names) {
        return names.stream().map(CertificateMaker::name).toList();
    }

    static String pem(String type, byte[] content) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(PEM_LINE, new byte[] {'\n'}).encodeToString(content)
                + "\n-----END " + type + "-----\n";
    }

    private static KeyPair keyPair() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
        return generator.generateKeyPair();
    }

    private static BigInteger serial() {
        return new BigInteger(127, RANDOM).add(BigInteger.ONE);
    }

    private static X509CertificateHolder sign(X509v3CertificateBuilder builder, PrivateKey key)
            throws OperatorCreationException {
        return builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(key));
    }

    /** Returns the common name, which has at most 64 characters. */
    private static String commonName(List<String> names) {
        String first = names.getFirst();
        return first.length() <= 64 ? first : first.substring(0, 64);
    }

    private static GeneralName name(String name) {
        boolean address = name.matches("[0-9.]+") || name.indexOf(':') >= 0;
        return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, name);
    }
}
