// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.settings.IdentityConfig;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;

/** Creates the identity that the settings name. */
public final class Identities {

    private Identities() {}

    /** Returns the identity, not started yet. Empty if the settings name no source. */
    public static Optional<Identity> create(IdentityConfig config) {
        Clock clock = Clock.systemUTC();
        return config.source().map(source -> new Identity(source(source, config, clock), clock));
    }

    private static IdentitySource source(IdentityConfig.Source source, IdentityConfig config, Clock clock) {
        return switch (source) {
            case FILES -> new FileSource(Path.of(config.directory().orElseThrow()), clock, FileSource.INTERVAL);
            case SPIFFE, BUILTIN -> throw new UnsupportedOperationException("not yet: " + source);
        };
    }
}
