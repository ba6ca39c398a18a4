// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.bench.result.Metric;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProfileTest {

    /** Output of perf 6.1. */
    private static final String REPORT = """
                34.52%  [k] _copy_from_iter                                     -      -
                22.50%  [.] StubRoutines (finalstubs)                           -      -
                 9.25%  [.] StubRoutines (initialstubs)                         -      -
                 6.00%  [k] tcp_sendmsg_locked                                  -      -
                 1.50%  [k] _raw_spin_lock
                 0.75%  [.] boolean io.sidewarp.engine.net.TcpTransport.produce()  -      -
                 0.25%  [.] Interpreter                                         -      -
                 0.50%  [.] __send                                              -      -

            """;

    @Test
    void samplesAreSortedByWhatTheyShow() {
        assertThat(Profile.parse(REPORT))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        Metric.KERNEL_COPY_PERCENT, 34.52,
                        Metric.KERNEL_PERCENT, 7.5,
                        Metric.MEMORY_COPY_PERCENT, 22.5,
                        Metric.CRC_PERCENT, 9.25,
                        Metric.JAVA_PERCENT, 1.0,
                        Metric.NATIVE_PERCENT, 0.5));
    }

    @Test
    void aReportWithoutSamplesIsEmpty() {
        assertThat(Profile.parse("")).isEmpty();
    }
}
