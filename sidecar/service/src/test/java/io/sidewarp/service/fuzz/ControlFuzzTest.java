// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the fuzzer of the control socket for a short time in each build. */
class ControlFuzzTest {

    private static final int ROUNDS = 25;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(180)
    void noRecordsOfTheControlSocketBreakAnInvariant(long seed) {
        try (ControlFuzzer fuzzer = new ControlFuzzer(seed)) {
            for (int round = 0; round < ROUNDS; round++) {
                fuzzer.round(round);
            }
            fuzzer.checkMemory();
        }
    }
}
