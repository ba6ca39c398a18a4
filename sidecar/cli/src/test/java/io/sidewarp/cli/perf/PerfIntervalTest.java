// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PerfIntervalTest {

    private static final PerfInterval INTERVAL = new PerfInterval(
            new PerfPlan(Operation.WRITE, false, 1, 8, 4, 1 << 20, 7), 1_000_000_000L, 1_500_000_000L, 0, 1000);

    @Test
    void aLineTellsTheTimeAndTheRate() {
        assertThat(INTERVAL.line()).isEqualTo("write 1 MiB: 1.00-1.50 s, 16.78 Gbit/s, 2000 messages/s");
    }

    @Test
    void anObjectTellsTheSame() {
        assertThat(PerfInterval.LISTING.json(INTERVAL))
                .containsEntry("mode", "interval")
                .containsEntry("begin", 1.0)
                .containsEntry("end", 1.5)
                .containsEntry("messages", 1000L)
                .containsEntry("octets", 1000L << 20)
                .containsEntry("messages_per_second", 2000.0);
    }
}
