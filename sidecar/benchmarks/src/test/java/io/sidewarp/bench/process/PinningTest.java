// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PinningTest {

    @Test
    void namesTheProcessorsOfEachEnd() {
        assertThat(Pinning.parse("0,2:1,3-5")).isEqualTo(new Pinning("0,2", "1,3-5"));
    }

    @Test
    void noneLeavesTheCommandAsItIs() {
        List<String> command = List.of("iperf3", "-s");

        assertThat(Place.on(Pinning.parse("none").active()).wrap(command)).isEqualTo(command);
    }

    @Test
    void tasksetRunsThePinnedCommand() {
        assertThat(Place.on("0-1").wrap(List.of("iperf3"))).containsExactly("taskset", "-c", "0-1", "iperf3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0:", ":1", "a:b", "0:1:2", "0;1:2"})
    void anythingElseIsRefusedWithAnExample(String text) {
        assertThatThrownBy(() -> Pinning.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0-1:2-3");
    }

    @Test
    void automaticPinningGivesBothEndsTheSame() {
        assertThat(Pinning.automatic(List.of(0))).isEqualTo(Pinning.NONE);
        assertThat(Pinning.automatic(List.of(0, 1))).isEqualTo(new Pinning("0", "1"));
        assertThat(Pinning.automatic(List.of(2, 3, 6, 7, 8))).isEqualTo(new Pinning("2,3", "6,7"));
    }

    @Test
    void listsHaveNumbersAndRanges() {
        assertThat(Pinning.numbers("\t0,2-4")).containsExactly(0, 2, 3, 4);
    }
}
