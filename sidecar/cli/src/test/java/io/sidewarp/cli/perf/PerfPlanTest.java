// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import org.junit.jupiter.api.Test;

class PerfPlanTest {

    @Test
    void hasASlotForEachMessageWhileTheyAreSmall() {
        PerfPlan plan = new PerfPlan(Operation.WRITE, false, 2, 64, 1, 8, 0);
        assertThat(plan.stride()).isEqualTo(64);
        assertThat(plan.slots()).isEqualTo(64);
        assertThat(plan.areaLength()).isEqualTo(64 * 64 + 1024);
        assertThat(plan.regionLength()).isEqualTo(2 * (64 * 64 + 1024));
        assertThat(plan.slotOffset(1, 3)).isEqualTo(64 * 64 + 1024 + 3 * 64);
        assertThat(plan.tailOffset(1)).isEqualTo(64 * 64 + 1024 + 64 * 64);
    }

    @Test
    void usesFewSlotsInTurnForLargeMessages() {
        PerfPlan plan = new PerfPlan(Operation.WRITE, false, 1, 64, 1, 1 << 20, 0);
        assertThat(plan.slots()).isEqualTo(4);
        assertThat(plan.slotOffset(0, 5)).isEqualTo(1 << 20);
    }

    @Test
    void hasOneSlotForAMessageThatIsLargerThanTheUsualMemory() {
        assertThat(new PerfPlan(Operation.READ, false, 1, 8, 1, 0xFFFF_FFFFL, 0).slots())
                .isEqualTo(1);
    }

    @Test
    void allowsEmptyMessages() {
        assertThat(new PerfPlan(Operation.SEND, false, 1, 1, 1, 0, 0).stride()).isEqualTo(64);
    }

    @Test
    void hasOneSlotToReceiveAndOneToSendInALatencyTest() {
        assertThat(new PerfPlan(Operation.WRITE, true, 1, 1, 1, 8, 0).slots()).isEqualTo(2);
    }

    @Test
    void refusesNumbersOutOfTheirRange() {
        refuses(() -> new PerfPlan(Operation.WRITE, false, 0, 1, 1, 8, 0), "connections");
        refuses(() -> new PerfPlan(Operation.WRITE, true, 2, 1, 1, 8, 0), "connections");
        refuses(() -> new PerfPlan(Operation.WRITE, false, 1, 0, 1, 8, 0), "depth");
        refuses(() -> new PerfPlan(Operation.WRITE, false, 1, 4, 8, 8, 0), "signal");
        refuses(() -> new PerfPlan(Operation.WRITE, false, 1, 4, 3, 8, 0), "signal");
        refuses(() -> new PerfPlan(Operation.WRITE, false, 1, 1, 1, 1L << 32, 0), "size");
        refuses(() -> new PerfPlan(Operation.WRITE, true, 1, 1, 1, 0, 0), "size");
    }

    private static void refuses(Runnable plan, String what) {
        assertThatThrownBy(plan::run)
                .isInstanceOf(Failure.class)
                .hasMessageContaining(what)
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(ExitCode.USAGE);
    }
}
