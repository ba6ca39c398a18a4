// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizesTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "64, 64",
        "8B, 8",
        "4K, 4096",
        "4k, 4096",
        "4KB, 4096",
        "4KiB, 4096",
        "1M, 1048576",
        "2g, 2147483648",
        "1T, 1099511627776",
        "' 7 ', 7"
    })
    void readsOctetsAndBinarySuffixes(String text, long octets) {
        assertThat(Sizes.parse(text)).isEqualTo(octets);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "K", "-1", "1.5M", "4X", "1e6", "9999999999T", "0x10", "4 K B", "１"})
    void refusesWhatIsNoSizeAndSaysHowOneLooks(String text) {
        assertThatThrownBy(() -> Sizes.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("such as 64 or 4K");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1 KiB",
        "1536, 1.5 KiB",
        "1048576, 1 MiB",
        "1073741824, 1 GiB",
        "3298534883328, 3 TiB"
    })
    void showsWholeUnitsExactlyAndOthersWithOneDecimal(long octets, String text) {
        assertThat(Sizes.format(octets)).isEqualTo(text);
    }

    @Test
    void showsSizesBeyondTheLastUnitInThatUnit() {
        assertThat(Sizes.format(1L << 60)).isEqualTo("1048576 TiB");
    }
}
