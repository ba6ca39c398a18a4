// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Options to reach the sidecar. Immutable; the {@code with} methods return changed copies.
 *
 * @param target {@code unix:///path} or {@code host:port}
 * @param sharedVolume directory at which this process mounts the volume for shared regions. Empty: SIDEWARP_VOLUME of
 *     the environment. Without SIDEWARP_VOLUME: {@value #DEFAULT_VOLUME} or the sidecar's own path, whichever exists.
 * @param callTimeout time limit of calls that do not wait for a peer
 */
public record ClientOptions(String target, Optional<Path> sharedVolume, Duration callTimeout) {

    public static final String DEFAULT_TARGET = "unix:///run/sidewarp/api.sock";

    public static final String DEFAULT_VOLUME = "/run/sidewarp/shared";

    /** Returns options from SIDEWARP_API and SIDEWARP_VOLUME of the environment, with defaults for unset values. */
    public static ClientOptions defaults() {
        return fromEnvironment(System.getenv());
    }

    static ClientOptions fromEnvironment(Map<String, String> environment) {
        String target = environment.getOrDefault("SIDEWARP_API", "");
        String volume = environment.getOrDefault("SIDEWARP_VOLUME", "");
        return new ClientOptions(
                target.isEmpty() ? DEFAULT_TARGET : target,
                volume.isEmpty() ? Optional.empty() : Optional.of(Path.of(volume)),
                Duration.ofSeconds(30));
    }

    public ClientOptions withTarget(String value) {
        return new ClientOptions(value, sharedVolume, callTimeout);
    }

    public ClientOptions withSharedVolume(Path value) {
        return new ClientOptions(target, Optional.of(value), callTimeout);
    }

    public ClientOptions withCallTimeout(Duration value) {
        return new ClientOptions(target, sharedVolume, value);
    }
}
