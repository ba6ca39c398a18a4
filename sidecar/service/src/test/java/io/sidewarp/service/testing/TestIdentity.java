// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.common.x509.Pem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;

/** Directory with the files of an identity. */
public final class TestIdentity implements AutoCloseable {

    private final Path directory = TestSidecar.newDirectory();

    public Path directory() {
        return directory;
    }

    /** Writes all files. */
    public void write(TestAuthority.Leaf leaf, X509Certificate authority) {
        write("tls.key", Pem.encode(leaf.key()));
        write("tls.crt", Pem.encode(List.of(leaf.certificate())));
        write("ca.crt", Pem.encode(List.of(authority)));
    }

    /** Replaces one file at once. */
    public void write(String name, String text) {
        try {
            Path written = Files.write(directory.resolve("." + name), text.getBytes(StandardCharsets.US_ASCII));
            Files.move(written, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns settings of a sidecar with this identity. */
    public String[] settings(String... further) {
        return Stream.concat(
                        Stream.of(
                                "sidewarp.identity.source",
                                "files",
                                "sidewarp.identity.directory",
                                directory.toString()),
                        Stream.of(further))
                .toArray(String[]::new);
    }

    @Override
    public void close() {
        TestSidecar.delete(directory);
    }
}
