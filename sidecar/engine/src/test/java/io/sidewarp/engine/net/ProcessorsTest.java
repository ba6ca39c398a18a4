// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessorsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"0; 1", "0-1; 2", "0-3,7; 5", "2,4,6-7; 4"})
    void countsTheProcessorsOfAList(String list, int count) {
        assertThat(Processors.count(list + "\n")).isEqualTo(count);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"3; 0-7; true", "0-7; 0-7; false", "2-3; 0-7; false", "0; 0; false"})
    void isPinnedToOneWhenTheMachineHasMore(String allowed, String online, boolean pinned) {
        assertThat(Processors.isPinnedToOne("Cpus_allowed_list:\t" + allowed, online))
                .isEqualTo(pinned);
    }
}
