// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ProcessCpuTest {

    @Test
    void isUnknownWithoutAProcess() {
        assertThat(new ProcessCpu(0).nanos()).isEmpty();
        assertThat(new ProcessCpu(0).since(OptionalLong.of(1))).isEqualTo(-1);
    }

    @Test
    void readsThisProcess() {
        assertThat(ProcessCpu.own().nanos()).isPresent();
    }
}
