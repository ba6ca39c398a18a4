// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.common.FailureText;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.engine.net.tls.TlsCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the certificate, its key and the CAs of the own trust domain ({@code ca.crt}) from files that another program
 * renews. The SPIRE helper and cert-manager write {@code tls.crt} and {@code tls.key}. Kubernetes writes both into
 * {@code credentialbundle.pem} for pod certificates.
 *
 * <p>Looks at their content every few seconds. Notifications of the kernel would not tell of changes below the symbolic
 * links of Kubernetes volumes.
 */
final class FileSource implements CertificateSource {

    static final Duration INTERVAL = Duration.ofSeconds(5);

    static final String BUNDLE = "credentialbundle.pem";
    static final String CERTIFICATE = "tls.crt";
    static final String KEY = "tls.key";
    static final String AUTHORITIES = "ca.crt";
    private static final int MAX_OCTETS = 1 << 20;

    private final Path directory;
    private final Clock clock;
    private final Duration interval;
    private @Nullable Content accepted;
    private @Nullable String lastProblem;

    FileSource(Path directory, Clock clock, Duration interval) {
        this.directory = directory;
        this.clock = clock;
        this.interval = interval;
    }

    private record Content(String certificates, String key, String authorities) {}

    @Override
    public void start(ScheduledExecutorService thread, Receiver receiver) {
        thread.scheduleWithFixedDelay(() -> look(receiver), 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        // The thread ends, and there is nothing else.
    }

    /** Reads the files, and delivers their content if it has changed. */
    void look(Receiver receiver) {
        try {
            Content content = read();
            if (content.equals(accepted)) {
                receiver.onUnchanged();
            } else {
                TlsCredentials credentials = credentials(content);
                accepted = content;
                receiver.onCredentials(credentials);
            }
            lastProblem = null;
        } catch (IllegalArgumentException e) {
            report(String.valueOf(e.getMessage()), receiver);
        } catch (RuntimeException e) {
            report("cannot read the identity in " + directory + ": " + e, receiver);
        }
    }

    /** Reports a problem at once if nothing works yet, and else when it persists: files may be half-written now. */
    private void report(String problem, Receiver receiver) {
        if (accepted == null || lastProblem != null) {
            receiver.onProblem(problem);
        }
        lastProblem = problem;
    }

    private Content read() {
        if (Files.exists(directory.resolve(BUNDLE))) {
            String bundle = read(BUNDLE);
            return new Content(bundle, bundle, read(AUTHORITIES));
        }
        return new Content(read(CERTIFICATE), read(KEY), read(AUTHORITIES));
    }

    private TlsCredentials credentials(Content content) {
        boolean bundle = content.certificates().equals(content.key());
        String certificateFile = bundle ? BUNDLE : CERTIFICATE;
        List<X509Certificate> chain = parse(certificateFile, content.certificates(), Pem::certificates);
        PrivateKey key = parse(bundle ? BUNDLE : KEY, content.key(), Pem::privateKey);
        List<X509Certificate> authorities = parse(AUTHORITIES, content.authorities(), Pem::certificates);
        try {
            Map<String, List<X509Certificate>> anchors =
                    Map.of(Credentials.id(chain).trustDomain(), authorities);
            return Credentials.of(key, chain, anchors, clock);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(directory.resolve(certificateFile) + ": " + e.getMessage(), e);
        }
    }

    private <T> T parse(String name, String text, Function<String, T> parser) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(directory.resolve(name) + ": " + e.getMessage(), e);
        }
    }

    private String read(String name) {
        Path file = directory.resolve(name);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(MAX_OCTETS + 1);
            if (octets.length > MAX_OCTETS) {
                throw new IllegalArgumentException(
                        file + " has more than " + MAX_OCTETS + " bytes; put only certificates in PEM there");
            }
            return new String(octets, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(
                    file + " is not there; mount the volume that has it, or set sidewarp.identity.directory", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    file + " cannot be read (" + FailureText.reason(e) + "); let the sidecar's user read it", e);
        }
    }
}
