// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Usage;
import io.sidewarp.bench.result.Metric;
import org.junit.jupiter.api.Test;

class EndPairTest {

    private static final Usage USAGE = new Usage(500_000_000, 2048, 1, 3);
    private static final Usage OTHER = new Usage(250_000_000, 0, 1, 4);
    private static final DutyOutcome OUTCOME = DutyOutcome.stream(1_000_000_000, 1024);

    @Test
    void streamHasThroughputAndTheCostsOfBothEnds() {
        assertThat(EndPair.figures(TransferPlan.stream(Operation.WRITE, 1 << 20, 8), OUTCOME, USAGE, OTHER))
                .containsEntry(Metric.GIGABITS_PER_SECOND, (1L << 30) * 8 / 1e9)
                .containsEntry(Metric.ACTIVE_CPU_SECONDS_PER_GIB, 0.5)
                .containsEntry(Metric.PASSIVE_CPU_SECONDS_PER_GIB, 0.25)
                .containsEntry(Metric.ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE, 2.0)
                .containsEntry(Metric.COLLECTIONS, 2.0)
                .containsEntry(Metric.COLLECTION_MILLISECONDS, 7.0);
    }

    @Test
    void streamOfSmallMessagesHasARate() {
        assertThat(EndPair.figures(TransferPlan.stream(Operation.WRITE, 64, 8), OUTCOME, USAGE, OTHER))
                .containsEntry(Metric.MESSAGES_PER_SECOND, 1024.0)
                .doesNotContainKey(Metric.ACTIVE_CPU_SECONDS_PER_GIB);
    }
}
