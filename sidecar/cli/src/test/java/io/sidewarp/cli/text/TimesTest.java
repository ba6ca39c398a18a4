// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimesTest {

    @ParameterizedTest
    @CsvSource({
        "5, 5000000000",
        "5s, 5000000000",
        "1.5s, 1500000000",
        "250ms, 250000000",
        "10us, 10000",
        "2m, 120000000000",
        "2min, 120000000000",
        "1H, 3600000000000",
        "0, 0"
    })
    void readsSecondsAndUnits(String text, long nanos) {
        assertThat(Times.parse(text).toNanos()).isEqualTo(nanos);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-1s", "1.2.3s", "5 parsecs", "NaN", "200h"})
    void refusesWhatIsNoTime(String text) {
        assertThatThrownBy(() -> Times.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0.0 us",
        "12345, 12.3 us",
        "123456, 123 us",
        "1234567, 1.23 ms",
        "123456789, 123 ms",
        "1234567890, 1.23 s"
    })
    void showsThreeDigits(long nanos, String text) {
        assertThat(Times.format(nanos)).isEqualTo(text);
    }
}
