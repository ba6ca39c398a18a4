// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SegmentSizeTest {

    private static LongStream dueCalls(long from, long end) {
        return LongStream.range(from, end).filter(SegmentSize::isDue);
    }

    @Test
    void asksOftenAtFirst() {
        assertThat(dueCalls(0, 3000))
                .containsExactly(0L, 1L, 2L, 4L, 8L, 16L, 32L, 64L, 128L, 256L, 512L, 1024L, 2048L);
    }
}
