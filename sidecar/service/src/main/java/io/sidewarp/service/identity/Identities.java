// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.common.x509.Pem;
import io.sidewarp.service.server.Transports;
import io.sidewarp.settings.IdentityConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;

/** Creates the identity that the settings name. */
public final class Identities {

    /** Delay before a source is called again; it doubles up to the longest one. */
    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);

    private static final Duration LONGEST_DELAY = Duration.ofSeconds(30);

    private Identities() {}

    /** Returns the identity, not started yet. Empty if the settings name no source. */
    public static Optional<Identity> create(IdentityConfig config, Transports transports) {
        Clock clock = Clock.systemUTC();
        return config.source().map(source -> new Identity(source(source, config, transports, clock), clock));
    }

    private static CertificateSource source(
            IdentityConfig.Source source, IdentityConfig config, Transports transports, Clock clock) {
        return switch (source) {
            case FILES -> new FileSource(Path.of(config.directory().orElseThrow()), clock, FileSource.INTERVAL);
            case SPIFFE -> {
                String address = config.socket().orElseThrow();
                yield new WorkloadApiSource(
                        address,
                        () -> WorkloadApiChannel.create(address, transports),
                        clock,
                        FIRST_DELAY,
                        LONGEST_DELAY);
            }
            case BUILTIN ->
                new BuiltinSource(
                        URI.create(config.issuer().orElseThrow()),
                        Path.of(config.directory().orElseThrow()),
                        Pem.certificates(config.trustBundle().orElseThrow()),
                        clock,
                        FIRST_DELAY,
                        LONGEST_DELAY);
        };
    }
}
