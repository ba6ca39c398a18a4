// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.show.ConnectionRates.Rated;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ConnectionRatesTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final ConnectionRates rates = new ConnectionRates();

    @Test
    void theFirstListingHasNoRates() {
        assertThat(rates.update(List.of(Connections.writing(1, 5, 5)), 0))
                .singleElement()
                .satisfies(rated -> assertThat(List.of(
                                rated.bitsSent(), rated.bitsReceived(), rated.messagesSent(), rated.messagesReceived()))
                        .containsOnly(Double.NaN));
    }

    @Test
    void ratesAreDifferencesOfCountersPerSecond() {
        rates.update(List.of(Connections.writing(1, 5, 100)), 10 * SECOND);

        assertThat(rates.update(List.of(Connections.writing(1, 9, 300)), 12 * SECOND))
                .singleElement()
                .satisfies(rated -> {
                    assertThat(rated.bitsSent()).isEqualTo(16_000);
                    assertThat(rated.bitsReceived()).isEqualTo(800);
                    assertThat(rated.messagesSent()).isEqualTo(2);
                    assertThat(rated.messagesReceived()).isZero();
                });
    }

    @Test
    void theFastestConnectionIsFirst() {
        rates.update(List.of(Connections.writing(1, 900, 0), Connections.writing(2, 0, 0)), 0);

        List<Rated> rated = rates.update(
                List.of(Connections.writing(1, 900, 0), Connections.writing(2, 1, 0), Connections.writing(3, 0, 2000)),
                SECOND);

        assertThat(rated).extracting(one -> one.connection().id()).containsExactly(3L, 2L, 1L);
    }

    @Test
    void theTrafficOfANewConnectionCountsFromZero() {
        rates.update(List.of(Connections.writing(1, 100, 0)), 0);

        List<Rated> rated = rates.update(List.of(Connections.writing(1, 2, 0), Connections.writing(2, 1, 0)), SECOND);

        assertThat(rated).extracting(Rated::messagesSent).containsExactly(2.0, 1.0);
    }
}
