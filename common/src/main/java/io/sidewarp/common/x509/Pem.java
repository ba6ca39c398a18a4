// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and private keys in PEM (RFC 7468). Text between the blocks is ignored. */
public final class Pem {

    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String PRIVATE_KEY = "PRIVATE KEY";
    private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "Ed25519");
    private static final int LINE = 64;
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----");

    private Pem() {}

    private record Block(String type, byte[] content) {}

    private static List<Block> blocks(String text) {
        List<Block> blocks = new ArrayList<>();
        Matcher begin = BEGIN.matcher(text);
        int at = 0;
        while (begin.find(at)) {
            String type = begin.group(1);
            String end = "-----END " + type + "-----";
            int stop = text.indexOf(end, begin.end());
            if (stop < 0) {
                throw new IllegalArgumentException(
                        "the block " + type + " has no line " + end + "; the file is cut off, or still being written");
            }
            try {
                blocks.add(new Block(type, Base64.getMimeDecoder().decode(text.substring(begin.end(), stop))));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("the block " + type + " is not in Base64: " + e.getMessage(), e);
            }
            at = stop + end.length();
        }
        return blocks;
    }

    /**
     * Returns the certificates of a text, in order.
     *
     * @throws IllegalArgumentException if there are none, or one is damaged
     */
    public static List<X509Certificate> certificates(String text) {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks(text)) {
            if (block.type().equals(CERTIFICATE)) {
                certificates.add(certificate(block.content()));
            }
        }
        if (certificates.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no certificate (a block that begins with" + " -----BEGIN CERTIFICATE-----)");
        }
        return List.copyOf(certificates);
    }

    /**
     * Returns the certificate with this DER encoding.
     *
     * @throws IllegalArgumentException if it is damaged
     */
    public static X509Certificate certificate(byte[] der) {
        return certificate(new ByteArrayInputStream(der));
    }

    private static X509Certificate certificate(ByteArrayInputStream in) {
        try {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        } catch (CertificateException e) {
            throw new IllegalArgumentException("a certificate is damaged: " + e.getMessage(), e);
        }
    }

    /**
     * Returns the certificates in these bytes, each in DER, one after the other. Empty for no bytes.
     *
     * @throws IllegalArgumentException if one is damaged
     */
    public static List<X509Certificate> derCertificates(byte[] der) {
        List<X509Certificate> certificates = new ArrayList<>();
        ByteArrayInputStream in = new ByteArrayInputStream(der);
        while (in.available() > 0) {
            certificates.add(certificate(in));
        }
        return List.copyOf(certificates);
    }

    /**
     * Returns the private key of a text.
     *
     * @throws IllegalArgumentException if there is not exactly one, or it is not an EC, RSA or Ed25519 key in PKCS #8
     *     without encryption
     */
    public static PrivateKey privateKey(String text) {
        List<Block> keys = blocks(text).stream()
                .filter(block -> block.type().endsWith(PRIVATE_KEY))
                .toList();
        if (keys.size() != 1) {
            throw new IllegalArgumentException("there are " + keys.size() + " private keys; exactly one is needed"
                    + " (a block that begins with -----BEGIN PRIVATE KEY-----)");
        }
        Block key = keys.getFirst();
        if (key.type().startsWith("ENCRYPTED")) {
            throw new IllegalArgumentException("the private key is encrypted; store it without a password (`openssl"
                    + " pkcs8 -in OLD -out NEW`)");
        }
        if (!key.type().equals(PRIVATE_KEY)) {
            throw new IllegalArgumentException(
                    "the private key is not in PKCS #8 but a block " + key.type()
                            + "; convert it (`openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW`), or let its source write PKCS #8");
        }
        return privateKey(key.content());
    }

    /**
     * Returns the private key with this encoding in PKCS #8.
     *
     * @throws IllegalArgumentException if it is not an EC, RSA or Ed25519 key
     */
    public static PrivateKey privateKey(byte[] pkcs8) {
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException e) {
                // A key of another algorithm: the next one may fit.
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalArgumentException("the private key is damaged, or not an EC, RSA or Ed25519 key");
    }

    /** Returns certificates as text. */
    public static String encode(List<X509Certificate> certificates) {
        StringBuilder text = new StringBuilder();
        for (X509Certificate certificate : certificates) {
            try {
                text.append(encode(CERTIFICATE, certificate.getEncoded()));
            } catch (CertificateException e) {
                throw new IllegalStateException(e);
            }
        }
        return text.toString();
    }

    /** Returns a private key as text, in PKCS #8 without encryption. */
    public static String encode(PrivateKey key) {
        return encode(PRIVATE_KEY, key.getEncoded());
    }

    /** Returns a block, such as a CERTIFICATE REQUEST. */
    public static String encode(String type, byte[] content) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII))
                        .encodeToString(content)
                + "\n-----END " + type + "-----\n";
    }
}
