// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.AuthorityKeyIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.SubjectKeyIdentifier;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;

/**
 * Builds X.509 certificates (RFC 5280) that are signed by EC keys (ECDSA with SHA-256), in the profile of an X.509-SVID
 * of SPIFFE: certificates of CAs can sign only, and certificates of others are for both ends of TLS.
 */
public final class CertificateBuilder {

    private static final int SERIAL_BITS = 127;
    /** Upper bound of a common name (RFC 5280 Appendix A.1). */
    private static final int MAX_COMMON_NAME = 64;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final PublicKey key;
    private final X500Name subject;
    private final List<GeneralName> names = new ArrayList<>();
    private BigInteger serial = newSerial();
    private Instant from = Instant.now();
    private Instant to = from.plus(Duration.ofHours(1));
    private boolean authority;
    private List<KeyPurposeId> purposes = List.of(KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth);

    /**
     * Creates a builder of a certificate that is valid for one hour from now.
     *
     * @param key public key of the subject
     * @param commonName name of the subject, cut off after 64 characters
     */
    public CertificateBuilder(PublicKey key, String commonName) {
        this(key, subject(commonName));
    }

    /**
     * Creates a builder of a certificate that is valid for one hour from now.
     *
     * @param key public key of the subject
     * @param subject distinguished name of the subject
     */
    public CertificateBuilder(PublicKey key, X500Name subject) {
        this.key = key;
        this.subject = subject;
    }

    /** Creates a key pair on the curve P-256. */
    public static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a random serial number, which is positive and fits into 20 bytes (RFC 5280 section 4.1.2.2). */
    public static BigInteger newSerial() {
        return new BigInteger(SERIAL_BITS, RANDOM).add(BigInteger.ONE);
    }

    /**
     * Creates a request for a certificate (PKCS #10, RFC 2986).
     *
     * @return the request in DER
     */
    public static byte[] request(KeyPair keys, String commonName) {
        try {
            return new JcaPKCS10CertificationRequestBuilder(subject(commonName), keys.getPublic())
                    .build(signer(keys.getPrivate()))
                    .getEncoded();
        } catch (IOException e) {
            throw new IllegalStateException("cannot encode a certificate signing request of " + commonName, e);
        }
    }

    /** Sets the time of validity. Certificates have whole seconds. */
    public CertificateBuilder validity(Instant begin, Instant end) {
        from = begin;
        to = end;
        return this;
    }

    /** Sets the serial number. Without this call it is a new one. */
    public CertificateBuilder serial(BigInteger number) {
        serial = number;
        return this;
    }

    /** Makes the subject a CA, which may sign certificates but no further CAs. */
    public CertificateBuilder authority() {
        authority = true;
        return this;
    }

    /** Restricts the certificate to servers of TLS. */
    public CertificateBuilder serverOnly() {
        purposes = List.of(KeyPurposeId.id_kp_serverAuth);
        return this;
    }

    /** Adds a URI to the subject's alternative names, such as a SPIFFE ID. */
    public CertificateBuilder uri(String uri) {
        names.add(new GeneralName(GeneralName.uniformResourceIdentifier, uri));
        return this;
    }

    /** Adds a DNS name or an IP address to the subject's alternative names. */
    public CertificateBuilder host(String host) {
        names.add(hostName(host));
        return this;
    }

    /** Adds DNS names or IP addresses to the subject's alternative names. */
    public CertificateBuilder hosts(List<String> hosts) {
        hosts.forEach(this::host);
        return this;
    }

    /** Returns a DNS name or an IP address in the form of a certificate, independent of how an address is written. */
    public static GeneralName hostName(String host) {
        boolean address = host.matches("[0-9.]+") || host.indexOf(':') >= 0;
        return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, host);
    }

    /** Returns the certificate, signed by a CA. */
    public X509Certificate signedBy(X509Certificate issuer, PrivateKey issuerKey) {
        return sign(
                X500Name.getInstance(issuer.getSubjectX500Principal().getEncoded()), authorityKeyId(issuer), issuerKey);
    }

    /** Returns the certificate, signed by the subject itself. */
    public X509Certificate selfSigned(PrivateKey ownKey) {
        return sign(subject, authorityKeyId(key), ownKey);
    }

    private X509Certificate sign(X500Name issuer, AuthorityKeyIdentifier issuerKeyId, PrivateKey issuerKey) {
        try {
            X509v3CertificateBuilder builder =
                    new JcaX509v3CertificateBuilder(issuer, serial, Date.from(from), Date.from(to), subject, key);
            if (authority) {
                builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
                builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
            } else {
                builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
                builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
                builder.addExtension(
                        Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purposes.toArray(KeyPurposeId[]::new)));
            }
            builder.addExtension(
                    Extension.subjectKeyIdentifier, false, new JcaX509ExtensionUtils().createSubjectKeyIdentifier(key));
            builder.addExtension(Extension.authorityKeyIdentifier, false, issuerKeyId);
            if (!names.isEmpty()) {
                builder.addExtension(
                        Extension.subjectAlternativeName, false, new GeneralNames(names.toArray(GeneralName[]::new)));
            }
            return new JcaX509CertificateConverter().getCertificate(builder.build(signer(issuerKey)));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot create a certificate of " + subject, e);
        }
    }

    private static ContentSigner signer(PrivateKey key) {
        try {
            return new JcaContentSignerBuilder("SHA256withECDSA").build(key);
        } catch (OperatorCreationException e) {
            throw new IllegalArgumentException(
                    "a key of type " + key.getAlgorithm() + " cannot sign a certificate; use an EC key", e);
        }
    }

    private static X500Name subject(String commonName) {
        String cut = commonName.length() <= MAX_COMMON_NAME ? commonName : commonName.substring(0, MAX_COMMON_NAME);
        return new X500NameBuilder(BCStyle.INSTANCE).addRDN(BCStyle.CN, cut).build();
    }

    /** Returns the identifier that a CA gave to its key. Other programs compute identifiers in other ways. */
    private static AuthorityKeyIdentifier authorityKeyId(X509Certificate issuer) {
        try {
            SubjectKeyIdentifier present =
                    SubjectKeyIdentifier.fromExtensions(new JcaX509CertificateHolder(issuer).getExtensions());
            return present == null
                    ? authorityKeyId(issuer.getPublicKey())
                    : new AuthorityKeyIdentifier(present.getKeyIdentifier());
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the certificate of the CA is damaged: " + e.getMessage(), e);
        }
    }

    private static AuthorityKeyIdentifier authorityKeyId(PublicKey key) {
        try {
            return new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(key);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
