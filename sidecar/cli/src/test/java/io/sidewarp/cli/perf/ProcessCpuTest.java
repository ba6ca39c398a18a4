// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ProcessCpuTest {

    @Test
    void addsUserAndSystemTimeWhateverTheProgramIsCalled() {
        String stat = "4711 (a ) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 100";
        assertThat(ProcessCpu.parse(stat)).isEqualTo(OptionalLong.of(3_000_000_000L));
    }

    @Test
    void isUnknownWhenTheLineIsSomethingElse() {
        assertThat(ProcessCpu.parse("")).isEmpty();
        assertThat(ProcessCpu.parse("1 (x) S 1 2")).isEmpty();
        assertThat(ProcessCpu.parse("1 (x) S 1 2 3 4 5 6 7 8 9 10 a b 0")).isEmpty();
        assertThat(new ProcessCpu(0).nanos()).isEmpty();
        assertThat(new ProcessCpu(0).since(OptionalLong.of(1))).isEqualTo(-1);
    }

    @Test
    void readsThisProcess() {
        assertThat(ProcessCpu.own().nanos()).isPresent();
    }
}
