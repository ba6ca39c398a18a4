// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.Failure;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IperfTest {

    @Test
    void takesWhatTheReceiverGotAndTheProcessorTimeOfBothEnds() {
        Map<Metric, Double> figures = Iperf.parse("""
                {"end": {
                  "sum_sent": {"seconds": 2.0, "bytes": 9000000000, "bits_per_second": 36e9},
                  "sum_received": {"seconds": 2.0, "bytes": 4294967296, "bits_per_second": 17179869184},
                  "cpu_utilization_percent": {"host_total": 90.0, "remote_total": 50.0}
                }}""");

        assertThat(figures.get(Metric.GIGABITS_PER_SECOND)).isCloseTo(17.18, within(0.01));
        assertThat(figures.get(Metric.ACTIVE_CPU_SECONDS_PER_GIB)).isCloseTo(0.45, within(1e-9));
        assertThat(figures.get(Metric.PASSIVE_CPU_SECONDS_PER_GIB)).isCloseTo(0.25, within(1e-9));
    }

    @Test
    void tellsTheErrorThatIperfTells() {
        assertThatThrownBy(() -> Iperf.parse("{\"error\": \"unable to connect to server\"}"))
                .isInstanceOf(Failure.class)
                .hasMessageEndingWith("unable to connect to server");
    }

    @Test
    void nameIsTheCommandInTheNotationOfAShell() {
        Place place = Place.ANYWHERE;

        assertThat(Iperf.of(Iperf.DEFAULT, false, "", place, place, Path.of("."))
                        .name())
                .isEqualTo("iperf3 -l 128K");
        assertThat(Iperf.of(Iperf.LARGE, true, " cubic", place, place, Path.of("."))
                        .name())
                .isEqualTo("iperf3 -l 1024K -C reno cubic");
    }
}
