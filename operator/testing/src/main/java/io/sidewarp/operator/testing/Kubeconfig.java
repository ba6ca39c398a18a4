// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;

/** Writes kubeconfig files, which give clients such as kubectl the address of an API server and their identity. */
final class Kubeconfig {

    private Kubeconfig() {}

    /** Writes a file for a user with a client certificate. */
    static Path write(Path file, int port, CertificateAuthority authority, CertificateAuthority.Identity identity) {
        return writeFor(
                file,
                port,
                authority,
                "client-certificate-data: " + base64(identity.certificatePem()) + "\n    client-key-data: "
                        + base64(identity.keyPem()));
    }

    /** Writes a file for the bearer of a token. */
    static Path write(Path file, int port, CertificateAuthority authority, String token) {
        return writeFor(file, port, authority, "token: " + token);
    }

    private static Path writeFor(Path file, int port, CertificateAuthority authority, String user) {
        String text = """
                apiVersion: v1
                kind: Config
                clusters:
                - name: test
                  cluster:
                    server: https://127.0.0.1:%d
                    certificate-authority-data: %s
                users:
                - name: test
                  user:
                    %s
                contexts:
                - name: test
                  context:
                    cluster: test
                    user: test
                current-context: test
                """.formatted(port, base64(authority.certificatePem()), user);
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
