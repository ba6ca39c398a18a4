// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LongSetTest {

    @Test
    void setHasTheSameNumbersAsASetOfObjects() {
        Random random = new Random(7);
        LongSet set = new LongSet();
        Set<Long> expected = new HashSet<>();

        for (int i = 0; i < 100_000; i++) {
            long number = 1L + random.nextInt(100);
            if (random.nextBoolean()) {
                set.add(number);
                expected.add(number);
            } else {
                set.remove(number);
                expected.remove(number);
            }
            assertThat(set.contains(number)).isEqualTo(expected.contains(number));
            assertThat(set.isEmpty()).isEqualTo(expected.isEmpty());
        }
        Set<Long> all = new HashSet<>();
        set.forEach(all::add);
        assertThat(all).isEqualTo(expected);
    }
}
