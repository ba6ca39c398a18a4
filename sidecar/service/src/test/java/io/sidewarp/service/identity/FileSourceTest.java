// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileSourceTest {

    private final Instant start = Instant.now();
    private static final Duration HOUR = Duration.ofHours(1);

    private final TestAuthority authority = new TestAuthority("example.org");
    private final TestIdentity files = new TestIdentity();
    private final FileSource source = new FileSource(files.directory(), Clock.systemUTC(), FileSource.INTERVAL);
    private final RecordingReceiver receiver = new RecordingReceiver();

    @AfterEach
    void removeFiles() {
        files.close();
    }

    @Test
    void filesOfCertManagerAreAnIdentity() {
        files.write(authority.leaf("cart"), authority.certificate());

        source.look(receiver);

        assertThat(receiver.delivered).singleElement().satisfies(credentials -> {
            assertThat(credentials.id()).hasToString(authority.id("cart"));
            assertThat(credentials.expiry()).isAfter(start);
        });
    }

    @Test
    void bundleOfPodCertificateIsAnIdentity() {
        TestAuthority.Leaf leaf = authority.leaf("cart");
        files.write("credentialbundle.pem", Pem.encode(leaf.key()) + Pem.encode(List.of(leaf.certificate())));
        files.write("ca.crt", Pem.encode(List.of(authority.certificate())));

        source.look(receiver);

        assertThat(receiver.delivered).hasSize(1);
    }

    @Test
    void unchangedFilesAreDeliveredOnce() {
        files.write(authority.leaf("cart"), authority.certificate());

        source.look(receiver);
        source.look(receiver);

        assertThat(receiver.delivered).hasSize(1);
        assertThat(receiver.unchanged).hasValue(1);
    }

    @Test
    void renewedFilesReplaceCredentials() {
        files.write(authority.leaf("cart", start.minus(HOUR), start.plus(HOUR)), authority.certificate());
        source.look(receiver);

        files.write(
                authority.leaf("cart", start.minus(HOUR), start.plus(HOUR.multipliedBy(2))), authority.certificate());
        source.look(receiver);

        assertThat(receiver.delivered).hasSize(2);
        assertThat(receiver.delivered.getLast().expiry()).isAfter(start.plus(HOUR));
        assertThat(receiver.problems).isEmpty();
    }

    @Test
    void newAuthorityAloneReplacesCredentials() {
        files.write(authority.leaf("cart"), authority.certificate());
        source.look(receiver);

        files.write("ca.crt", Pem.encode(List.of(authority.certificate(), new TestAuthority("two").certificate())));
        source.look(receiver);

        assertThat(receiver.delivered).hasSize(2);
    }

    @Test
    void swapOfKubernetesVolumeReplacesCredentials() throws IOException {
        Path volume = files.directory();
        version(volume, "one", authority.leaf("cart"));
        Files.createSymbolicLink(volume.resolve("..data"), Path.of("one"));
        for (String name : List.of("tls.crt", "tls.key", "ca.crt")) {
            Files.createSymbolicLink(volume.resolve(name), Path.of("..data", name));
        }
        source.look(receiver);

        version(volume, "two", authority.leaf("basket"));
        Files.createSymbolicLink(volume.resolve("..data_tmp"), Path.of("two"));
        Files.move(volume.resolve("..data_tmp"), volume.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        source.look(receiver);

        assertThat(receiver.delivered)
                .extracting(credentials -> credentials.id().toString())
                .containsExactly(authority.id("cart"), authority.id("basket"));
    }

    private void version(Path volume, String name, TestAuthority.Leaf leaf) throws IOException {
        Path directory = Files.createDirectory(volume.resolve(name));
        Files.writeString(directory.resolve("tls.key"), Pem.encode(leaf.key()));
        Files.writeString(directory.resolve("tls.crt"), Pem.encode(List.of(leaf.certificate())));
        Files.writeString(directory.resolve("ca.crt"), Pem.encode(List.of(authority.certificate())));
    }

    @Test
    void missingFileIsNamedWithRemedy() {
        source.look(receiver);

        assertThat(receiver.problems)
                .containsExactly(files.directory() + "/tls.crt is not there; mount the volume that has it, or set"
                        + " sidewarp.identity.directory");
    }

    @Test
    void halfWrittenFileKeepsOldCredentialsAndIsReportedWhenItStays() {
        TestAuthority.Leaf leaf = authority.leaf("cart");
        files.write(leaf, authority.certificate());
        source.look(receiver);

        String text = Pem.encode(List.of(leaf.certificate()));
        files.write("tls.crt", text.substring(0, text.length() / 2));
        source.look(receiver);
        assertThat(receiver.problems).isEmpty();

        source.look(receiver);
        assertThat(receiver.delivered).hasSize(1);
        assertThat(receiver.problems).singleElement().asString().contains("/tls.crt: ", "still being written");

        files.write("tls.crt", text);
        source.look(receiver);
        assertThat(receiver.unchanged).hasValue(1);
    }

    @Test
    void keyOfAnotherCertificateIsReported() {
        files.write(authority.leaf("cart"), authority.certificate());
        files.write("tls.key", Pem.encode(authority.leaf("cart").key()));

        refuses("/tls.crt: the private key does not belong to the certificate");
    }

    @Test
    void keyInAnotherFormatIsReported() {
        files.write(authority.leaf("cart"), authority.certificate());
        files.write("tls.key", Pem.encode("EC PRIVATE KEY", new byte[] {1}));

        refuses("/tls.key: the private key is not in PKCS #8");
    }

    @Test
    void certificateWithoutSpiffeIdIsReported() {
        files.write(authority.sign(builder -> builder.dnsName("cart")), authority.certificate());

        refuses("/tls.crt: the certificate (CN=leaf) has no SPIFFE ID");
    }

    @Test
    void expiredCertificateIsReportedByName() {
        files.write(
                authority.leaf("cart", start.minus(HOUR.multipliedBy(2)), start.minus(HOUR)), authority.certificate());

        refuses("the certificate of this side, " + authority.id("cart") + ", expired at ");
    }

    @Test
    void earlyCertificateIsReportedByNameAndUsedLater() {
        files.write(
                authority.leaf("cart", start.plus(HOUR), start.plus(HOUR.multipliedBy(2))), authority.certificate());

        refuses("the certificate of this side, " + authority.id("cart") + ", is not valid before ");

        FileSource later = new FileSource(
                files.directory(), Clock.offset(Clock.systemUTC(), HOUR.plusMinutes(1)), FileSource.INTERVAL);
        later.look(receiver);
        assertThat(receiver.delivered).hasSize(1);
    }

    @Test
    void certificateOf100KibibytesIsReported() {
        files.write(
                authority.sign(builder -> {
                    for (int i = 0; i < 4000; i++) {
                        builder.dnsName("name-" + i + ".of.a.large.certificate");
                    }
                    return builder.uri(authority.id("cart"));
                }),
                authority.certificate());

        refuses("bytes, and peers accept 32000; use certificates with fewer or shorter names");
    }

    @Test
    void chainOfManyCertificatesIsReported() {
        TestAuthority.Leaf leaf = authority.leaf("cart");
        List<X509Certificate> chain = new ArrayList<>(List.of(leaf.certificate()));
        chain.addAll(Collections.nCopies(8, authority.certificate()));
        files.write(leaf, authority.certificate());
        files.write("tls.crt", Pem.encode(chain));

        refuses("the chain has 9 certificates, and peers accept 8");
    }

    @Test
    void hugeFileIsReported() {
        files.write(authority.leaf("cart"), authority.certificate());
        files.write("ca.crt", "x".repeat((1 << 20) + 1));

        refuses("/ca.crt has more than 1048576 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "Ed25519"})
    void keyOfAnotherAlgorithmIsTaken(String algorithm) throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
        X509Certificate certificate = new CertificateBuilder(keys.getPublic(), algorithm)
                .uri(authority.id("cart"))
                .signedBy(authority.certificate(), authority.key());
        files.write(new TestAuthority.Leaf(keys.getPrivate(), certificate), authority.certificate());

        source.look(receiver);

        assertThat(receiver.delivered).hasSize(1);
    }

    private void refuses(String problem) {
        source.look(receiver);

        assertThat(receiver.delivered).isEmpty();
        assertThat(receiver.problems).singleElement().asString().contains(problem);
    }
}
