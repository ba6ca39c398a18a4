// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MulpduTest {

    @ParameterizedTest(name = "EMSS {0}: {1} with Markers, {2} without")
    @CsvSource({
        "1460, 1442, 1454",
        "8960, 8882, 8954",
        "1461, 1442, 1454",
        "1448, 1430, 1442",
        "536, 522, 530",
        "65483, 64768, 64768"
    })
    @Requirement({"MPA-4.5-01", "MPA-3-02"})
    void followsTheFormulas(int emss, int withMarkers, int without) {
        assertThat(Mulpdu.of(emss, true)).isEqualTo(withMarkers);
        assertThat(Mulpdu.of(emss, false)).isEqualTo(without);
    }

    @ParameterizedTest(name = "EMSS {0}")
    @CsvSource({"0", "1", "64", "100", "127", "128", "134", "138"})
    @Requirement({"MPA-4.5-03", "MPA-3-02"})
    void neverDropsBelow128(int emss) {
        assertThat(Mulpdu.of(emss, true)).isEqualTo(128);
        assertThat(Mulpdu.of(emss, false)).isGreaterThanOrEqualTo(128).isLessThanOrEqualTo(132);
    }

    @ParameterizedTest(name = "EMSS {0}")
    @CsvSource({"65495", "65535", "1000000"})
    @Requirement({"MPA-3-02", "MPA-3-04"})
    void neverExceeds64768(int emss) {
        assertThat(Mulpdu.of(emss, true)).isEqualTo(64768);
        assertThat(Mulpdu.of(emss, false)).isEqualTo(64768);
    }

    @Test
    @Requirement("MPA-4.5-01")
    void anFpduOfThatSizeFitsIntoTheSegmentWithAnyNumberOfMarkers() {
        for (int emss = 300; emss <= 9000; emss++) {
            int plain = FpduFlyweight.length(Mulpdu.of(emss, true));
            int worst = 0;
            for (int position = 0; position < 512; position += 4) {
                worst = Math.max(worst, plain + 4 * MarkerFlyweight.count(position, plain));
            }
            assertThat(worst).as("EMSS %d", emss).isLessThanOrEqualTo(emss);
            assertThat(FpduFlyweight.length(Mulpdu.of(emss, false))).isLessThanOrEqualTo(emss);
        }
    }
}
