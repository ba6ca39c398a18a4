// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.identity;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A CA of one trust domain in a directory: {@code ca/ca.crt} and {@code ca/ca.key}, and below the directory one
 * directory for each identity, with the files that a sidecar reads.
 */
public final class Authority {

    /** Trust domain of Sidewarp's chart, and of most clusters. */
    public static final String DEFAULT_TRUST_DOMAIN = "cluster.local";

    private static final String SCHEME = "spiffe://";
    private static final Duration LIFETIME = Duration.ofDays(3650);
    /** Time before now that certificates are valid, for hosts whose clocks differ. */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(5);

    private static final Set<PosixFilePermission> OWN_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> READ_BY_ALL = PosixFilePermissions.fromString("rw-r--r--");

    private final Path directory;
    private final String trustDomain;
    private final X509Certificate certificate;
    private final PrivateKey key;

    private Authority(Path directory, String trustDomain, X509Certificate certificate, PrivateKey key) {
        this.directory = directory;
        this.trustDomain = trustDomain;
        this.certificate = certificate;
        this.key = key;
    }

    /** An identity that was written. */
    public record Issued(String id, Path directory, Instant expiry) {}

    /**
     * Opens the CA in a directory, or creates one if there is none.
     *
     * @param trustDomain wanted trust domain; empty for that of the CA, or the default one
     * @throws Failure if the CA is damaged, or of another trust domain
     */
    public static Authority open(Path directory, Optional<String> trustDomain) throws IOException {
        Path folder = directory.resolve("ca");
        Path certificateFile = folder.resolve("ca.crt");
        Path keyFile = folder.resolve("ca.key");
        if (!Files.exists(certificateFile) && !Files.exists(keyFile)) {
            return create(directory, trustDomain.orElse(DEFAULT_TRUST_DOMAIN));
        }
        try {
            X509Certificate certificate =
                    Pem.certificates(Files.readString(certificateFile)).getFirst();
            Authority authority = new Authority(
                    directory, trustDomainOf(certificate), certificate, Pem.privateKey(Files.readString(keyFile)));
            if (trustDomain.isPresent() && !trustDomain.get().equals(authority.trustDomain)) {
                throw new Failure(
                        ExitCode.USAGE,
                        "the CA in " + folder + " is of the trust domain " + authority.trustDomain
                                + "; leave out --trust-domain, or use another directory");
            }
            return authority;
        } catch (IllegalArgumentException e) {
            throw new Failure(
                    ExitCode.CONFIGURATION,
                    "the CA in " + folder + " cannot be used: " + e.getMessage() + ". Restore its files, or remove "
                            + folder + " for a new CA",
                    e);
        }
    }

    private static Authority create(Path directory, String trustDomain) throws IOException {
        KeyPair keys = CertificateBuilder.newKeys();
        Instant now = Instant.now();
        X509Certificate certificate = new CertificateBuilder(keys.getPublic(), "CA of " + trustDomain)
                .authority()
                .validity(now.minus(CLOCK_SKEW), now.plus(LIFETIME))
                .uri(SCHEME + trustDomain)
                .selfSigned(keys.getPrivate());
        Path folder = Files.createDirectories(directory.resolve("ca"));
        write(folder.resolve("ca.key"), Pem.encode(keys.getPrivate()), OWN_ONLY);
        write(folder.resolve("ca.crt"), Pem.encode(List.of(certificate)), READ_BY_ALL);
        return new Authority(directory, trustDomain, certificate, keys.getPrivate());
    }

    /**
     * Issues a certificate for a new key, and writes both with this CA into the directory of the name. Replaces former
     * files.
     *
     * @param name path of the SPIFFE ID, as in {@code ns/shop/sa/cart}
     * @throws Failure if the CA does not live as long
     */
    public Issued issue(String name, Duration lifetime) throws IOException {
        String id = SCHEME + trustDomain + "/" + name;
        Instant now = Instant.now();
        Instant expiry = now.plus(lifetime);
        if (expiry.isAfter(certificate.getNotAfter().toInstant())) {
            throw new Failure(
                    ExitCode.CONFIGURATION,
                    "the CA in " + directory.resolve("ca") + " expires at "
                            + certificate.getNotAfter().toInstant() + ", before the new certificate would at " + expiry
                            + "; use a smaller --days, or remove the CA for a new one");
        }
        KeyPair keys = CertificateBuilder.newKeys();
        X509Certificate issued = new CertificateBuilder(keys.getPublic(), name.substring(name.lastIndexOf('/') + 1))
                .validity(now.minus(CLOCK_SKEW), expiry)
                .uri(id)
                .signedBy(certificate, key);
        Path folder = Files.createDirectories(directory.resolve(name));
        write(folder.resolve("tls.key"), Pem.encode(keys.getPrivate()), OWN_ONLY);
        write(folder.resolve("tls.crt"), Pem.encode(List.of(issued)), READ_BY_ALL);
        write(folder.resolve("ca.crt"), Pem.encode(List.of(certificate)), READ_BY_ALL);
        return new Issued(id, folder, issued.getNotAfter().toInstant());
    }

    private static String trustDomainOf(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            for (List<?> name : names == null ? List.<List<?>>of() : names) {
                if (name.get(1) instanceof String text && text.startsWith(SCHEME)) {
                    return text.substring(SCHEME.length());
                }
            }
        } catch (CertificateParsingException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        throw new IllegalArgumentException("its certificate has no SPIFFE ID of a trust domain");
    }

    /** Replaces a file at once, so that a sidecar never reads a half. */
    private static void write(Path file, String text, Set<PosixFilePermission> permissions) throws IOException {
        Path written = Files.createTempFile(
                file.getParent(), ".identity-", "", PosixFilePermissions.asFileAttribute(OWN_ONLY));
        try {
            Files.writeString(written, text);
            Files.setPosixFilePermissions(written, permissions);
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(written);
            throw e;
        }
    }
}
