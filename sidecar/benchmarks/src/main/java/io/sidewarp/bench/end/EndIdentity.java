// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.engine.net.tls.TlsCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Certificate of an end, from PEM files of a directory: {@code ca.crt}, {@code tls.crt} and {@code tls.key}. A process
 * reads them once, so tickets are good for later plans.
 */
public final class EndIdentity {

    /** Trust domain of the certificates. */
    public static final String TRUST_DOMAIN = "example.org";

    private static final Map<String, TlsCredentials> READ = new ConcurrentHashMap<>();

    private EndIdentity() {}

    /** Returns the credentials in a directory. */
    public static TlsCredentials of(String directory) {
        return READ.computeIfAbsent(directory, name -> read(Path.of(name)));
    }

    private static TlsCredentials read(Path directory) {
        try {
            return TlsCredentials.create(
                    key(directory.resolve("tls.key")),
                    List.of(certificate(directory.resolve("tls.crt"))),
                    Map.of(TRUST_DOMAIN, Set.of(certificate(directory.resolve("ca.crt")))));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot read the certificates in " + directory, e);
        }
    }

    private static X509Certificate certificate(Path file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file).replaceAll("-----[A-Z ]*-----", "");
        return KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text)));
    }
}
