// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CpuQuotaTest {

    @Test
    void aProcessOfTheGroupGetsNoMoreThanItsQuota() throws Exception {
        Optional<String> obstacle = CpuQuota.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle::toString);
        Path group;

        try (CpuQuota quota = CpuQuota.create("test", 0.2)) {
            group = quota.members().getParent();
            // Takes more processor time than a period gives, and ends by itself.
            List<String> command = List.of("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done");
            Process process =
                    Children.start(new ProcessBuilder(Place.within(quota).wrap(command)));

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.inputReader().readLine()).isEqualTo("done");
            assertThat(quota.use().throttled()).isPositive();
            assertThat(quota.use().periods()).isGreaterThanOrEqualTo(quota.use().throttled());
        }

        assertThat(group).doesNotExist();
    }

    @Test
    void theKernelsStatisticsAreRead() {
        List<String> stat = List.of("nr_periods 12", "nr_throttled 5", "throttled_time 123456", "nr_bursts 0");

        assertThat(CpuQuota.Use.parse(stat)).isEqualTo(new CpuQuota.Use(12, 5));
        assertThat(new CpuQuota.Use(10, 5).throttledPercent()).isEqualTo(50);
        assertThat(CpuQuota.Use.parse(List.of("usage_usec 7"))).isEqualTo(new CpuQuota.Use(0, 0));
    }
}
