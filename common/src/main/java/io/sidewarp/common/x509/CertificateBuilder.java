// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Builds X.509 certificates (RFC 5280) that are signed by EC keys (ECDSA with SHA-256), in the profile of an X.509-SVID
 * of SPIFFE: certificates of CAs can sign only, and certificates of others are for both ends of TLS.
 */
public final class CertificateBuilder {

    private static final String ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
    private static final String COMMON_NAME = "2.5.4.3";
    private static final String SUBJECT_KEY_ID = "2.5.29.14";
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String AUTHORITY_KEY_ID = "2.5.29.35";
    private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
    private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
    private static final int DNS_NAME = 2;
    private static final int URI = 6;
    private static final int IP_ADDRESS = 7;
    private static final int VERSION_3 = 2;
    private static final int SERIAL_BITS = 127;
    /** Upper bound of a common name (RFC 5280 Appendix A.1). */
    private static final int MAX_COMMON_NAME = 64;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final PublicKey key;
    private final String commonName;
    private final List<byte[]> names = new ArrayList<>();
    private Instant from = Instant.now();
    private Instant to = from.plus(Duration.ofHours(1));
    private boolean authority;

    /**
     * Creates a builder of a certificate that is valid for one hour from now.
     *
     * @param key public key of the subject
     * @param commonName name of the subject, cut off after 64 characters
     */
    public CertificateBuilder(PublicKey key, String commonName) {
        this.key = key;
        this.commonName = commonName;
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

    /**
     * Creates a request for a certificate (PKCS #10, RFC 2986).
     *
     * @return the request in DER
     */
    public static byte[] request(KeyPair keys, String commonName) {
        byte[] body = Der.sequence(
                Der.integer(0), name(commonName), keys.getPublic().getEncoded(), Der.constructed(0, new byte[0]));
        return signed(body, keys.getPrivate());
    }

    /** Sets the time of validity. Certificates have whole seconds. */
    public CertificateBuilder validity(Instant begin, Instant end) {
        from = begin;
        to = end;
        return this;
    }

    /** Makes the subject a CA, which may sign certificates but no further CAs. */
    public CertificateBuilder authority() {
        authority = true;
        return this;
    }

    /** Adds a URI to the subject's alternative names, such as a SPIFFE ID. */
    public CertificateBuilder uri(String uri) {
        names.add(Der.primitive(URI, uri.getBytes(StandardCharsets.US_ASCII)));
        return this;
    }

    /** Adds a DNS name to the subject's alternative names. */
    public CertificateBuilder dnsName(String dnsName) {
        names.add(Der.primitive(DNS_NAME, dnsName.getBytes(StandardCharsets.US_ASCII)));
        return this;
    }

    /** Adds an address to the subject's alternative names. */
    public CertificateBuilder address(InetAddress address) {
        names.add(Der.primitive(IP_ADDRESS, address.getAddress()));
        return this;
    }

    /** Returns the certificate, signed by a CA. */
    public X509Certificate signedBy(X509Certificate issuer, PrivateKey issuerKey) {
        return sign(issuer.getSubjectX500Principal().getEncoded(), keyId(issuer), issuerKey);
    }

    /** Returns the certificate, signed by the subject itself. */
    public X509Certificate selfSigned(PrivateKey ownKey) {
        return sign(name(commonName), keyId(key), ownKey);
    }

    private X509Certificate sign(byte[] issuer, byte[] issuerKeyId, PrivateKey issuerKey) {
        List<byte[]> extensions = new ArrayList<>();
        if (authority) {
            extensions.add(critical(BASIC_CONSTRAINTS, Der.sequence(Der.isTrue(), Der.integer(0))));
            // Bits 5 and 6: keyCertSign and cRLSign.
            extensions.add(critical(KEY_USAGE, Der.bitString(1, new byte[] {0b0000_0110})));
        } else {
            extensions.add(critical(BASIC_CONSTRAINTS, Der.sequence()));
            // Bit 0: digitalSignature.
            extensions.add(critical(KEY_USAGE, Der.bitString(7, new byte[] {(byte) 0b1000_0000})));
            extensions.add(extension(EXTENDED_KEY_USAGE, Der.sequence(Der.oid(SERVER_AUTH), Der.oid(CLIENT_AUTH))));
        }
        extensions.add(extension(SUBJECT_KEY_ID, Der.octetString(keyId(key))));
        extensions.add(extension(AUTHORITY_KEY_ID, Der.sequence(Der.primitive(0, issuerKeyId))));
        if (!names.isEmpty()) {
            extensions.add(extension(SUBJECT_ALTERNATIVE_NAME, Der.sequence(names)));
        }
        byte[] body = Der.sequence(
                Der.constructed(0, Der.integer(VERSION_3)),
                Der.integer(new BigInteger(SERIAL_BITS, RANDOM).add(BigInteger.ONE)),
                Der.sequence(Der.oid(ECDSA_WITH_SHA256)),
                issuer,
                Der.sequence(Der.time(from), Der.time(to)),
                name(commonName),
                key.getEncoded(),
                Der.constructed(3, Der.sequence(extensions)));
        return Pem.certificate(signed(body, issuerKey));
    }

    private static byte[] signed(byte[] body, PrivateKey key) {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(key);
            signature.update(body);
            return Der.sequence(body, Der.sequence(Der.oid(ECDSA_WITH_SHA256)), Der.bitString(0, signature.sign()));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "a key of type " + key.getAlgorithm() + " cannot sign a certificate; use an EC key", e);
        }
    }

    private static byte[] critical(String oid, byte[] value) {
        return Der.sequence(Der.oid(oid), Der.isTrue(), Der.octetString(value));
    }

    private static byte[] extension(String oid, byte[] value) {
        return Der.sequence(Der.oid(oid), Der.octetString(value));
    }

    private static byte[] name(String commonName) {
        String cut = commonName.length() <= MAX_COMMON_NAME ? commonName : commonName.substring(0, MAX_COMMON_NAME);
        return Der.sequence(Der.set(Der.sequence(Der.oid(COMMON_NAME), Der.utf8(cut))));
    }

    /** Returns the identifier that a CA gave to its key. */
    private static byte[] keyId(X509Certificate issuer) {
        byte[] extension = issuer.getExtensionValue(SUBJECT_KEY_ID);
        // Two octet strings, one in the other, each with a short length.
        return extension == null ? keyId(issuer.getPublicKey()) : Arrays.copyOfRange(extension, 4, extension.length);
    }

    /** Returns an identifier of a key. Any unique octets do (RFC 7093), so this is a hash of the whole public key. */
    private static byte[] keyId(PublicKey key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
            return Arrays.copyOf(hash, 20);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
