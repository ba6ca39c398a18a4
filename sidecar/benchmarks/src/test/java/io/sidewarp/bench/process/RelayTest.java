// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RelayTest {

    private static final Duration TIME = Duration.ofMillis(200);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"write", "read"})
    void relayMeasuresLatencyAndRate(String operation) {
        Relay relay = Relay.compile(Path.of("../.."), directory, Place.on("0"), Place.on("0"));

        double[] micros = relay.latencyMicros(operation, TIME);
        assertThat(micros[0]).isPositive();
        assertThat(micros[1]).isGreaterThanOrEqualTo(micros[0]);
        assertThat(relay.messagesPerSecond(operation, TIME)).isPositive();
    }

    @Test
    void relayTakesOneProcessorForEachEnd() {
        assertThat(Relay.fits(Place.on("0"), Place.on("1"))).isTrue();
        assertThat(Relay.fits(Place.on("0-1"), Place.on("2"))).isFalse();
        assertThat(Relay.fits(Place.ANYWHERE, Place.on("1"))).isFalse();
    }
}
