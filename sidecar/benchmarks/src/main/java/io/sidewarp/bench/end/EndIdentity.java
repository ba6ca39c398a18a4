// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.common.x509.Pem;
import io.sidewarp.engine.net.tls.TlsCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
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
                    Pem.privateKey(Files.readString(directory.resolve("tls.key"))),
                    Pem.certificates(Files.readString(directory.resolve("tls.crt"))),
                    Map.of(TRUST_DOMAIN, Set.copyOf(Pem.certificates(Files.readString(directory.resolve("ca.crt"))))));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot read the certificates in " + directory, e);
        }
    }
}
