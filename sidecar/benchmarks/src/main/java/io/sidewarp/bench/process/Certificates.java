// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.EndIdentity;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Certificates for a run: a CA, and one certificate with a SPIFFE ID that all ends use. Keys are of the curve P-256.
 *
 * @param directory directory of {@code ca.crt}, {@code tls.crt} and {@code tls.key}
 */
public record Certificates(Path directory) {

    private static final Duration VALIDITY = Duration.ofDays(2);

    /** Makes certificates in a new directory below the given one. */
    public static Certificates make(Path parent) {
        Instant now = Instant.now();
        KeyPair authorityKeys = CertificateBuilder.newKeys();
        X509Certificate authority = new CertificateBuilder(authorityKeys.getPublic(), "CA")
                .authority()
                .validity(now, now.plus(VALIDITY))
                .selfSigned(authorityKeys.getPrivate());
        KeyPair keys = CertificateBuilder.newKeys();
        X509Certificate end = new CertificateBuilder(keys.getPublic(), "end")
                .validity(now, now.plus(VALIDITY))
                .uri("spiffe://" + EndIdentity.TRUST_DOMAIN + "/ns/bench/sa/end")
                .signedBy(authority, authorityKeys.getPrivate());
        try {
            Certificates certificates = new Certificates(Files.createTempDirectory(parent, "identity"));
            Files.writeString(certificates.file("ca.crt"), Pem.encode(List.of(authority)));
            Files.writeString(certificates.file("tls.crt"), Pem.encode(List.of(end)));
            Files.writeString(certificates.file("tls.key"), Pem.encode(keys.getPrivate()));
            return certificates;
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot create certificates: " + e.getMessage(), e);
        }
    }

    /** Returns the path of a file for other programs. */
    Path file(String name) {
        return directory.resolve(name);
    }
}
