// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateHolder;

/**
 * Content of the webhook's Secret, in PEM.
 *
 * @param certificate {@code tls.crt}: the server's certificate
 * @param privateKey {@code tls.key}: the server's key, as PKCS #8 or in the form of another creator
 * @param authorities {@code ca.crt}: the authorities that the API server must trust; more than one while a certificate
 *     is replaced
 */
record WebhookCertificate(String certificate, String privateKey, String authorities) {
    private static final String CERTIFICATE = "tls.crt";
    private static final String PRIVATE_KEY = "tls.key";
    private static final String AUTHORITIES = "ca.crt";

    /** Reads a Secret. Empty if the Secret lacks a part. */
    static Optional<WebhookCertificate> of(Secret secret) {
        Map<String, String> data = secret.getData() == null ? Map.of() : secret.getData();
        String certificate = data.get(CERTIFICATE);
        String privateKey = data.get(PRIVATE_KEY);
        String authorities = data.get(AUTHORITIES);
        return certificate == null || privateKey == null || authorities == null
                ? Optional.empty()
                : Optional.of(new WebhookCertificate(decode(certificate), decode(privateKey), decode(authorities)));
    }

    /** Returns a Secret of type {@code kubernetes.io/tls}. */
    Secret toSecret(String namespace, String name) {
        return new SecretBuilder()
                .withMetadata(new ObjectMetaBuilder()
                        .withNamespace(namespace)
                        .withName(name)
                        .addToLabels("app.kubernetes.io/managed-by", "sidewarp-controller")
                        .build())
                .withType("kubernetes.io/tls")
                .addToData(CERTIFICATE, encode(certificate))
                .addToData(PRIVATE_KEY, encode(privateKey))
                .addToData(AUTHORITIES, encode(authorities))
                .build();
    }

    /** Returns whether the certificate has expired or cannot be read. */
    boolean isExpired(Instant now) {
        return server().map(server -> now.isAfter(server.getNotAfter().toInstant()))
                .orElse(true);
    }

    /**
     * Returns whether less than a third of the validity is left, a name is missing, or the certificate cannot be read.
     * Additional names are accepted: a replica with older settings must not replace the certificate of a replica with
     * newer settings.
     *
     * @param names DNS names or IP addresses of the server
     */
    boolean isDue(Instant now, List<String> names) {
        return now.isAfter(dueAt()) || !hasNames(names);
    }

    /**
     * Returns whether key, certificate and authorities fit together, so that a client that trusts the authorities
     * accepts the server.
     */
    boolean isUsable() {
        try {
            X509Certificate server = chain().getFirst();
            return Pki.isKeyOf(key(), server)
                    && Pki.certificates(authorities).stream().anyMatch(authority -> isSignedBy(server, authority));
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            return false;
        }
    }

    private static boolean isSignedBy(X509Certificate server, X509Certificate authority) {
        try {
            server.verify(authority.getPublicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    /**
     * Returns the time when a third of the validity is left, or a time in the past if the certificate cannot be read.
     */
    Instant dueAt() {
        return server().map(server -> {
                    Instant until = server.getNotAfter().toInstant();
                    Duration validity = Duration.between(server.getNotBefore().toInstant(), until);
                    return until.minus(validity.dividedBy(3));
                })
                .orElse(Instant.EPOCH);
    }

    /** Returns the authorities that are valid at a moment, in PEM. */
    String validAuthorities(Instant now) {
        StringBuilder valid = new StringBuilder();
        try {
            for (X509Certificate authority : Pki.certificates(authorities)) {
                if (authority.getNotAfter().toInstant().isAfter(now)) {
                    valid.append(Pem.encode(List.of(authority)));
                }
            }
        } catch (IOException | CertificateException | RuntimeException e) {
            return "";
        }
        return valid.toString();
    }

    /** Returns whether {@code trusted}, in PEM, contains all authorities of this certificate. */
    boolean isTrustedBy(String trusted) {
        try {
            return Pki.certificates(trusted).containsAll(Pki.certificates(authorities));
        } catch (IOException | CertificateException | RuntimeException e) {
            return false;
        }
    }

    /** Returns the server's certificate and the intermediate certificates. */
    List<X509Certificate> chain() throws IOException, CertificateException {
        List<X509Certificate> chain = Pki.certificates(certificate);
        if (chain.isEmpty()) {
            throw new CertificateException(CERTIFICATE + " has no certificate");
        }
        return chain;
    }

    /** Returns the server's key, from any unencrypted form in PEM. */
    PrivateKey key() throws IOException, InvalidKeyException {
        List<PrivateKey> keys = Pki.privateKeys(privateKey);
        if (keys.isEmpty()) {
            throw new InvalidKeyException(PRIVATE_KEY + " has no private key");
        }
        return keys.getFirst();
    }

    private boolean hasNames(List<String> names) {
        try {
            GeneralNames present = GeneralNames.fromExtensions(
                    new JcaX509CertificateHolder(chain().getFirst()).getExtensions(), Extension.subjectAlternativeName);
            return present != null && List.of(present.getNames()).containsAll(Pki.names(names));
        } catch (IOException | CertificateException | RuntimeException e) {
            return false;
        }
    }

    /** Returns the server's certificate. Empty if it cannot be read. */
    private Optional<X509Certificate> server() {
        try {
            return Pki.certificates(certificate).stream().findFirst();
        } catch (IOException | CertificateException | RuntimeException e) {
            return Optional.empty();
        }
    }

    static String decode(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }

    private static String encode(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a text without the key. */
    @Override
    public String toString() {
        return "WebhookCertificate[" + certificate.length() + " bytes of certificate]";
    }
}
