// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.pki;

import java.io.IOException;
import java.io.StringReader;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Signs certificates with keys of the curve P-256, and reads PEM in all forms that other programs write. */
public final class Pki {
    /** Time before its creation from which a certificate is valid, because clocks of hosts differ. */
    public static final Duration CLOCK_SKEW = Duration.ofMinutes(5);

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SERIAL_BITS = 127;

    private Pki() {}

    /** Returns a random serial number, which is positive and fits into 20 bytes (RFC 5280 section 4.1.2.2). */
    public static BigInteger serial() {
        return new BigInteger(SERIAL_BITS, RANDOM).add(BigInteger.ONE);
    }

    /** Signs a certificate with a key of the curve P-256. */
    public static X509Certificate sign(X509v3CertificateBuilder builder, PrivateKey key)
            throws GeneralSecurityException {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(key)));
        } catch (OperatorCreationException e) {
            throw new GeneralSecurityException(e);
        }
    }

    /** Returns whether a private key belongs to a certificate. */
    public static boolean isKeyOf(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        Signature signature =
                Signature.getInstance(key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA");
        signature.initSign(key);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        return signature.verify(signed);
    }

    /** Returns DNS names or IP addresses in the form of a certificate, independent of how an address is written. */
    public static List<GeneralName> names(List<String> names) {
        return names.stream().map(Pki::name).toList();
    }

    private static GeneralName name(String name) {
        boolean address = name.matches("[0-9.]+") || name.indexOf(':') >= 0;
        return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, name);
    }

    /** Reads the certificates of a PEM text. */
    public static List<X509Certificate> certificates(String pem) throws IOException, CertificateException {
        List<X509Certificate> certificates = new ArrayList<>();
        JcaX509CertificateConverter converter = new JcaX509CertificateConverter();
        try (PEMParser parser = new PEMParser(new StringReader(pem))) {
            for (Object object = parser.readObject(); object != null; object = parser.readObject()) {
                if (object instanceof X509CertificateHolder holder) {
                    certificates.add(converter.getCertificate(holder));
                }
            }
        }
        return certificates;
    }

    /** Reads the private keys of a PEM text, each from any unencrypted form. */
    public static List<PrivateKey> privateKeys(String pem) throws IOException {
        List<PrivateKey> keys = new ArrayList<>();
        JcaPEMKeyConverter converter = new JcaPEMKeyConverter();
        try (PEMParser parser = new PEMParser(new StringReader(pem))) {
            for (Object object = parser.readObject(); object != null; object = parser.readObject()) {
                if (object instanceof PrivateKeyInfo key) {
                    keys.add(converter.getPrivateKey(key));
                } else if (object instanceof PEMKeyPair pair) {
                    keys.add(converter.getPrivateKey(pair.getPrivateKeyInfo()));
                }
            }
        }
        return keys;
    }
}
