// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TargetTest {

    @ParameterizedTest
    @ValueSource(strings = {"unix:///run/sidewarp/api.sock", "unix:/run/sidewarp/api.sock"})
    void unixTargetNamesTheSocket(String text) {
        assertThat(Target.parse(text)).isEqualTo(new Target.Unix(Path.of("/run/sidewarp/api.sock")));
    }

    @Test
    void unixTargetMayBeRelativeWithoutSlashes() {
        assertThat(Target.parse("unix:build/api.sock")).isEqualTo(new Target.Unix(Path.of("build/api.sock")));
    }

    @Test
    void hostAndPortAreTcp() {
        assertThat(Target.parse("localhost:7470")).isEqualTo(new Target.Tcp("localhost", 7470));
    }

    @Test
    void ipv6AddressStandsInBrackets() {
        assertThat(Target.parse("[::1]:7470")).isEqualTo(new Target.Tcp("::1", 7470));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "unix:",
                "unix://",
                "unix://run/sidewarp/api.sock",
                "localhost",
                ":7470",
                "localhost:",
                "localhost:0",
                "localhost:65536",
                "localhost:http",
                "::1:7470",
                "http://localhost:7470",
                "/run/sidewarp/api.sock"
            })
    void otherTargetsAreRefusedWithAnExample(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Target.parse(text))
                .withMessageContaining("\"" + text + "\"")
                .withMessageContaining("unix:///run/sidewarp/api.sock");
    }

    @Test
    void environmentSetsTargetAndVolume() {
        assertThat(ClientOptions.fromEnvironment(Map.of("SIDEWARP_API", "[::1]:5", "SIDEWARP_VOLUME", "/mnt/rdma")))
                .isEqualTo(new ClientOptions("[::1]:5", Optional.of(Path.of("/mnt/rdma")), Duration.ofSeconds(30)));
    }

    @Test
    void emptyEnvironmentMeansTheUsualSocket() {
        assertThat(ClientOptions.fromEnvironment(Map.of("SIDEWARP_API", "")))
                .isEqualTo(
                        new ClientOptions("unix:///run/sidewarp/api.sock", Optional.empty(), Duration.ofSeconds(30)));
    }
}
