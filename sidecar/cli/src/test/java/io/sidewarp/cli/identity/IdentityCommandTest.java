// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class IdentityCommandTest {

    @TempDir
    private Path directory;

    private final StringWriter output = new StringWriter();

    @Test
    void caAndIdentitiesAreMade() throws Exception {
        assertThat(run("ns/shop/sa/cart", "ns/shop/sa/store", "--days", "2")).isEqualTo(ExitCode.OK);

        X509Certificate authority = certificate("ca/ca.crt");
        X509Certificate cart = certificate("ns/shop/sa/cart/tls.crt");
        assertThat(cart.getSubjectAlternativeNames())
                .containsExactly(List.of(6, "spiffe://cluster.local/ns/shop/sa/cart"));
        cart.verify(authority.getPublicKey());
        assertThat(certificate("ns/shop/sa/cart/ca.crt")).isEqualTo(authority);
        assertThat(Duration.between(Instant.now(), cart.getNotAfter().toInstant()))
                .isBetween(Duration.ofHours(47), Duration.ofHours(48));
        assertThat(output.toString())
                .contains("spiffe://cluster.local/ns/shop/sa/cart in " + directory + "/ns/shop/sa/cart, valid until ")
                .contains("spiffe://cluster.local/ns/shop/sa/store");
        assertThat(permissions("ca/ca.key")).isEqualTo("rw-------");
        assertThat(permissions("ns/shop/sa/cart/tls.key")).isEqualTo("rw-------");
        assertThat(permissions("ns/shop/sa/cart/tls.crt")).isEqualTo("rw-r--r--");
        try (Stream<Path> files = Files.list(directory.resolve("ns/shop/sa/cart"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("tls.crt", "tls.key", "ca.crt");
        }
    }

    @Test
    void repeatedCommandRenewsWithTheSameCa() throws IOException {
        run("ns/shop/sa/cart", "--trust-domain", "example.org");
        X509Certificate authority = certificate("ca/ca.crt");
        X509Certificate first = certificate("ns/shop/sa/cart/tls.crt");

        assertThat(run("ns/shop/sa/cart")).isEqualTo(ExitCode.OK);

        assertThat(certificate("ca/ca.crt")).isEqualTo(authority);
        assertThat(certificate("ns/shop/sa/cart/tls.crt")).isNotEqualTo(first);
        assertThat(output.toString()).contains("spiffe://example.org/ns/shop/sa/cart");
    }

    @Test
    void caOfAnotherTrustDomainIsRefused() {
        run("ns/shop/sa/cart", "--trust-domain", "example.org");

        assertThat(run("ns/shop/sa/cart", "--trust-domain", "example.com")).isEqualTo(ExitCode.USAGE);
        assertThat(output.toString()).contains("is of the trust domain example.org; leave out --trust-domain");
    }

    @Test
    void damagedCaIsRefused() throws IOException {
        run("ns/shop/sa/cart");
        Files.delete(directory.resolve("ca/ca.crt"));
        Files.writeString(directory.resolve("ca/ca.crt"), "text");

        assertThat(run("ns/shop/sa/cart")).isEqualTo(ExitCode.CONFIGURATION);
        assertThat(output.toString()).contains("/ca cannot be used: there is no certificate", "for a new CA");
    }

    @Test
    void certificateDoesNotOutliveItsCa() throws IOException {
        KeyPair keys = CertificateBuilder.newKeys();
        X509Certificate old = new CertificateBuilder(keys.getPublic(), "old CA")
                .authority()
                .validity(Instant.now(), Instant.now().plus(Duration.ofDays(10)))
                .uri("spiffe://example.org")
                .selfSigned(keys.getPrivate());
        Files.createDirectory(directory.resolve("ca"));
        Files.writeString(directory.resolve("ca/ca.crt"), Pem.encode(List.of(old)));
        Files.writeString(directory.resolve("ca/ca.key"), Pem.encode(keys.getPrivate()));

        assertThat(run("ns/shop/sa/cart", "--days", "9")).isEqualTo(ExitCode.OK);
        assertThat(run("ns/shop/sa/cart", "--days", "11")).isEqualTo(ExitCode.CONFIGURATION);
        assertThat(output.toString()).contains("use a smaller --days, or remove the CA for a new one");
        assertThat(run("ns/shop/sa/cart", "--days", "1826")).isEqualTo(ExitCode.USAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/ns/shop", "ns//shop", "ns/../../etc", "ns/shop/", "ns/shöp", "ca", "ca/x"})
    void nameThatIsNoPathOfSpiffeIdIsRefused(String name) {
        assertThat(run(name)).isEqualTo(ExitCode.USAGE);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void directoryThatCannotBeMadeIsNamed() throws IOException {
        Files.writeString(directory.resolve("ca"), "a file");

        assertThat(run("ns/shop/sa/cart")).isEqualTo(ExitCode.CANNOT_CREATE);
        assertThat(output.toString())
                .contains("cannot write certificates below " + directory + ": " + directory
                        + "/ca: a file of this name exists");
    }

    @Test
    void directoryWithoutAFileSystemForItIsTold() {
        directory = Path.of("/proc/none");

        assertThat(run("ns/shop/sa/cart")).isEqualTo(ExitCode.CANNOT_CREATE);
        assertThat(output.toString())
                .contains("cannot write certificates below /proc/none: /proc/none: no such file or directory")
                .doesNotContain("Exception");
    }

    private int run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("identity", directory.toString()));
        all.addAll(List.of(arguments));
        CommandLine commandLine = Sidewarp.commandLine(Map.of());
        commandLine.setOut(new PrintWriter(output, true));
        commandLine.setErr(new PrintWriter(output, true));
        return commandLine.execute(all.toArray(String[]::new));
    }

    private X509Certificate certificate(String name) throws IOException {
        return Pem.certificates(Files.readString(directory.resolve(name))).getFirst();
    }

    private String permissions(String name) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name)));
    }
}
