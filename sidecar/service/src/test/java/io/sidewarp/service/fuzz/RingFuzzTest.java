// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the fuzzer of rings for a short time in each build. */
class RingFuzzTest {

    private static final int ROUNDS = 12;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(180)
    void noContentOfRingsBreaksAnInvariant(long seed) {
        try (RingFuzzer fuzzer = new RingFuzzer(seed)) {
            for (int round = 0; round < ROUNDS; round++) {
                fuzzer.round(round);
            }
            fuzzer.checkMemory();
        }
    }
}
