// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority for tests. It issues certificates for an API server, for the server's users, and for webhooks
 * that the server calls.
 */
public record CertificateAuthority(X500Name name, KeyPair keys, X509Certificate certificate) {

    private static final Duration VALIDITY = Duration.ofDays(30);

    /**
     * Start of validity before now. A test and its peers have the same clock, but the start of validity has whole
     * seconds only.
     */
    private static final Duration EARLIER = Duration.ofMinutes(1);

    private static final int KEY_BITS = 2048;
    private static final int SERIAL_BITS = 64;
    private static final String SIGNATURE = "SHA256withRSA";
    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

    /** Creates an authority that no peer trusts yet. */
    public static CertificateAuthority create(String commonName) {
        X500Name name = name(commonName, List.of());
        KeyPair keys = newKeys();
        X509Certificate certificate = issue(
                name,
                keys.getPrivate(),
                name,
                keys.getPublic(),
                builder -> builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true))
                        .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign)));
        return new CertificateAuthority(name, keys, certificate);
    }

    /** Returns the certificate that peers have to trust, in PEM. */
    public String certificatePem() {
        return pem(certificate);
    }

    /** Issues a certificate for a TLS server with these DNS names and addresses. */
    public Identity issueServer(String... namesAndAddresses) {
        GeneralName[] names = Arrays.stream(namesAndAddresses)
                .map(text -> new GeneralName(
                        ADDRESS.matcher(text).matches() ? GeneralName.iPAddress : GeneralName.dNSName, text))
                .toArray(GeneralName[]::new);
        return issue(
                name(namesAndAddresses[0], List.of()),
                KeyPurposeId.id_kp_serverAuth,
                builder -> builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names)));
    }

    /** Issues a client certificate that names a user and its groups for an API server. */
    public Identity issueClient(String user, String... groups) {
        return issue(name(user, List.of(groups)), KeyPurposeId.id_kp_clientAuth, builder -> builder);
    }

    private Identity issue(X500Name subject, KeyPurposeId purpose, Extensions extensions) {
        KeyPair subjectKeys = newKeys();
        X509Certificate issued = issue(
                name,
                keys.getPrivate(),
                subject,
                subjectKeys.getPublic(),
                builder -> extensions
                        .addTo(builder)
                        .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
                        .addExtension(
                                Extension.keyUsage,
                                true,
                                new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyEncipherment))
                        .addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose)));
        return new Identity(subjectKeys, issued, certificate);
    }

    private static X509Certificate issue(
            X500Name issuer, PrivateKey issuerKey, X500Name subject, PublicKey subjectKey, Extensions extensions) {
        Instant now = Instant.now();
        X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                issuer,
                new BigInteger(SERIAL_BITS, new SecureRandom()),
                Date.from(now.minus(EARLIER)),
                Date.from(now.plus(VALIDITY)),
                subject,
                subjectKey);
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            extensions.addTo(builder).build(new JcaContentSignerBuilder(SIGNATURE).build(issuerKey)));
        } catch (CertIOException | GeneralSecurityException | OperatorCreationException e) {
            throw new IllegalStateException("cannot make a certificate for " + subject, e);
        }
    }

    private static X500Name name(String commonName, List<String> organizations) {
        X500NameBuilder builder = new X500NameBuilder(BCStyle.INSTANCE);
        organizations.forEach(organization -> builder.addRDN(BCStyle.O, organization));
        return builder.addRDN(BCStyle.CN, commonName).build();
    }

    static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(KEY_BITS);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a key or a certificate in PEM. */
    static String pem(Object content) {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
            writer.writeObject(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    @FunctionalInterface
    private interface Extensions {
        X509v3CertificateBuilder addTo(X509v3CertificateBuilder builder) throws CertIOException;
    }

    /** A key with the certificate that its authority issued for it. */
    public record Identity(KeyPair keys, X509Certificate certificate, X509Certificate authority) {

        private static final char[] NO_PASSWORD = {};

        /** Returns the certificate in PEM. */
        public String certificatePem() {
            return pem(certificate);
        }

        /** Returns the private key in PEM (PKCS #1). */
        public String keyPem() {
            return pem(keys.getPrivate());
        }

        /** Returns a TLS context with this identity, for peers of the same authority. */
        public SSLContext sslContext() {
            try {
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(null, NO_PASSWORD);
                store.setKeyEntry("key", keys.getPrivate(), NO_PASSWORD, new X509Certificate[] {certificate});
                store.setCertificateEntry("authority", authority);
                KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                keyManagers.init(store, NO_PASSWORD);
                TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                trust.init(store);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(keyManagers.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
                return context;
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
