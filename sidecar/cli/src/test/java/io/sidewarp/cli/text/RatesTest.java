// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RatesTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 bit/s",
        "7, 7 bit/s",
        "0.25, 0.25 bit/s",
        "940.4, 940 bit/s",
        "999.6, 1.00 kbit/s",
        "1234, 1.23 kbit/s",
        "12345678901, 12.3 Gbit/s",
        "999600000000, 1.00 Tbit/s",
        "1e16, 10000 Tbit/s",
        "NaN, -"
    })
    void ratesHaveThreeDigitsAndAPrefix(double rate, String text) {
        assertThat(Rates.bits(rate)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0, 0 /s", "1500000, 1.50 M/s"})
    void numbersHaveNoUnitButTheSecond(double rate, String text) {
        assertThat(Rates.number(rate)).isEqualTo(text);
    }
}
