// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** CA of a test. Signs certificates with a SPIFFE ID, and also wrong ones. */
public final class TestAuthority {

    private static final byte[] ECDSA_WITH_SHA256 = {0x06, 0x08, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 4, 3, 2};
    private static final byte[] COMMON_NAME = {0x06, 0x03, 0x55, 0x04, 0x03};
    private static final byte[] BASIC_CONSTRAINTS = {0x06, 0x03, 0x55, 0x1D, 0x13};
    private static final byte[] SUBJECT_ALTERNATIVE_NAME = {0x06, 0x03, 0x55, 0x1D, 0x11};
    private static final byte[] TRUE = {0x01, 0x01, (byte) 0xFF};
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final AtomicLong SERIALS = new AtomicLong(1);

    private final String trustDomain;
    private final String name;
    private final KeyPair keys = newKeys();
    private final X509Certificate certificate;

    public TestAuthority(String trustDomain) {
        this(trustDomain, "CA of " + trustDomain);
    }

    public TestAuthority(String trustDomain, String name) {
        this.trustDomain = trustDomain;
        this.name = name;
        this.certificate =
                sign(keys.getPublic(), name, List.of(), true, Instant.now().minusSeconds(60), hours(24));
    }

    /** Returns this CA for its trust domain, as the trusted CAs of a peer. */
    public Map<String, Set<X509Certificate>> anchors() {
        return Map.of(trustDomain, Set.of(certificate));
    }

    public X509Certificate certificate() {
        return certificate;
    }

    /** A key with its certificate. */
    public record Leaf(PrivateKey key, X509Certificate certificate) {

        /** Returns credentials that trust the given CAs. */
        public TlsCredentials trusting(Map<String, Set<X509Certificate>> anchors) {
            try {
                return TlsCredentials.create(key, List.of(certificate), anchors);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Returns credentials of a service account, valid now, that trust this CA. */
    public TlsCredentials credentials(String serviceAccount) {
        return leaf(serviceAccount).trusting(anchors());
    }

    public Leaf leaf(String serviceAccount) {
        return leaf(List.of(id(serviceAccount)), Instant.now().minusSeconds(60), hours(1));
    }

    public Leaf leaf(List<String> uris, Instant from, Instant to) {
        return leaf(uris, from, to, newKeys());
    }

    public Leaf leaf(List<String> uris, Instant from, Instant to, KeyPair leafKeys) {
        return new Leaf(leafKeys.getPrivate(), sign(leafKeys.getPublic(), "leaf", uris, false, from, to));
    }

    /** Returns a certificate for an hour. */
    public Leaf leaf(String commonName, List<String> uris, Instant from) {
        KeyPair leafKeys = newKeys();
        return new Leaf(leafKeys.getPrivate(), sign(leafKeys.getPublic(), commonName, uris, false, from, hours(1)));
    }

    public String id(String serviceAccount) {
        return "spiffe://" + trustDomain + "/ns/shop/sa/" + serviceAccount;
    }

    public static Instant hours(int number) {
        return Instant.now().plus(Duration.ofHours(number));
    }

    public static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private X509Certificate sign(
            PublicKey key, String name, List<String> uris, boolean authority, Instant from, Instant to) {
        List<byte[]> extensions = new ArrayList<>();
        if (authority) {
            extensions.add(sequence(BASIC_CONSTRAINTS, TRUE, der(0x04, sequence(TRUE))));
        }
        if (!uris.isEmpty()) {
            byte[][] names = uris.stream()
                    .map(uri -> der(0x86, uri.getBytes(StandardCharsets.US_ASCII)))
                    .toArray(byte[][]::new);
            extensions.add(sequence(SUBJECT_ALTERNATIVE_NAME, der(0x04, sequence(names))));
        }
        byte[] body = sequence(
                der(0xA0, der(0x02, new byte[] {2})),
                der(0x02, BigInteger.valueOf(SERIALS.getAndIncrement()).toByteArray()),
                sequence(ECDSA_WITH_SHA256),
                name(this.name),
                sequence(time(from), time(to)),
                name(name),
                key.getEncoded(),
                extensions.isEmpty() ? new byte[0] : der(0xA3, sequence(extensions.toArray(byte[][]::new))));
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(keys.getPrivate());
            signature.update(body);
            byte[] signed =
                    sequence(body, sequence(ECDSA_WITH_SHA256), der(0x03, concat(new byte[] {0}, signature.sign())));
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(signed));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] name(String commonName) {
        return sequence(der(0x31, sequence(COMMON_NAME, der(0x0C, commonName.getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] time(Instant instant) {
        return der(0x18, TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] sequence(byte[]... parts) {
        return der(0x30, concat(parts));
    }

    private static byte[] der(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else {
            byte[] length = BigInteger.valueOf(content.length).toByteArray();
            int skip = length[0] == 0 ? 1 : 0;
            out.write(0x80 | length.length - skip);
            out.write(length, skip, length.length - skip);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
