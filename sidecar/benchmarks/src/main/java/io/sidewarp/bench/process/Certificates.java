// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.EndIdentity;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Certificates that openssl makes for a run: a CA, and one certificate with a SPIFFE ID that all ends use. Keys are of
 * the curve P-256.
 *
 * @param directory directory of {@code ca.crt}, {@code tls.crt} and {@code tls.key}
 */
public record Certificates(Path directory) {

    private static final String PACKAGES = "Debian and Ubuntu: apt-get install openssl";

    /** Makes certificates in a new directory below the given one. */
    public static Certificates make(Path parent) {
        try {
            Path directory = Files.createTempDirectory(parent, "identity");
            Path extensions = Files.writeString(
                    directory.resolve("extensions"),
                    "subjectAltName=URI:spiffe://" + EndIdentity.TRUST_DOMAIN + "/ns/bench/sa/end\n");
            String[] newKey = {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"};
            openssl(
                    directory, newKey, "req", "-x509", "-subj", "/CN=CA", "-days", "2", "-keyout", "ca.key", "-out",
                    "ca.crt");
            openssl(directory, newKey, "req", "-subj", "/CN=end", "-keyout", "tls.key", "-out", "tls.csr");
            openssl(
                    directory,
                    new String[] {"-extfile", extensions.toString()},
                    "x509",
                    "-req",
                    "-in",
                    "tls.csr",
                    "-CA",
                    "ca.crt",
                    "-CAkey",
                    "ca.key",
                    "-CAcreateserial",
                    "-days",
                    "2",
                    "-out",
                    "tls.crt");
            return new Certificates(directory);
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot create certificates: " + e.getMessage(), e);
        }
    }

    /** Runs openssl. Arguments that are names of files are of the directory. */
    private static void openssl(Path directory, String[] options, String... arguments) {
        List<String> command = new ArrayList<>(List.of("openssl"));
        for (String argument : arguments) {
            command.add(
                    argument.matches("[a-z]+\\.[a-z]+")
                            ? directory.resolve(argument).toString()
                            : argument);
        }
        command.addAll(List.of(options));
        ChildProcess.run(PACKAGES, command);
    }

    /** Returns the path of a file for other programs. */
    Path file(String name) {
        return directory.resolve(name);
    }
}
