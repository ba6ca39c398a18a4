// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.perf.Histogram;
import org.junit.jupiter.api.Test;

class PerftestResultTest {

    private static final long SECOND = 1_000_000_000L;

    @Test
    void thePeerIsToldOfTheMessagesOfAllConnections() {
        PerftestPlan plan = new PerftestPlan(PerftestKind.WRITE_BW, 16, 64, 100, 4096);

        Exchange.Report report = new PerftestResult(plan, SECOND, new Histogram(), Exchange.Report.NONE).report();

        assertThat(report.size()).isEqualTo(4096);
        assertThat(report.iterations()).isEqualTo(1600);
        assertThat(report.averageMebibytes()).isEqualTo(6.25);
        assertThat(report.megaMessages()).isEqualTo(0.0016);
    }
}
