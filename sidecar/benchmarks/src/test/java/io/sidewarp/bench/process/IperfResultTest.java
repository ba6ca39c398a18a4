// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class IperfResultTest {

    @Test
    void takesWhatTheReceiverGotAndTheProcessorTimeOfBothEnds() throws Exception {
        Iperf.Result result = Iperf.Result.parse("""
                {"end": {
                  "sum_sent": {"seconds": 2.0, "bytes": 9000000000, "bits_per_second": 36e9},
                  "sum_received": {"seconds": 2.0, "bytes": 4294967296, "bits_per_second": 17179869184},
                  "cpu_utilization_percent": {"host_total": 90.0, "remote_total": 50.0}
                }}""");

        assertThat(result.gigabitsPerSecond()).isCloseTo(17.18, within(0.01));
        assertThat(result.activeCpuPerGib()).isCloseTo(0.45, within(1e-9));
        assertThat(result.passiveCpuPerGib()).isCloseTo(0.25, within(1e-9));
    }

    @Test
    void tellsTheErrorThatIperfTells() {
        assertThatThrownBy(() -> Iperf.Result.parse("{\"error\": \"unable to connect to server\"}"))
                .isInstanceOf(IOException.class)
                .hasMessage("unable to connect to server");
    }
}
