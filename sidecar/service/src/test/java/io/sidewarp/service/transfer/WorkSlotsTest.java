// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.verbs.Cqe;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkSlotsTest {

    private static final CompletionTarget SINK = new CompletionTarget() {
        @Override
        public void complete(long connection, long id, boolean signaled, Cqe completion) {}

        @Override
        public void flush() {}
    };

    private final WorkSlots slots = new WorkSlots();

    private long taken() {
        return LongStream.range(0, slots.capacity()).filter(slots::isTaken).count();
    }

    @Test
    void aSlotKeepsWhatWasPutIntoIt() {
        int slot = slots.take(SINK, 42, false, true, 99);

        assertThat(slots.isTaken(slot)).isTrue();
        assertThat(slots.sink(slot)).isSameAs(SINK);
        assertThat(slots.id(slot)).isEqualTo(42);
        assertThat(slots.isSignaled(slot)).isFalse();
        assertThat(slots.isReceive(slot)).isTrue();
        assertThat(slots.time(slot)).isEqualTo(99);
    }

    @Test
    void slotsAreDistinctWhileTheyAreTakenAndGrowWithTheNeed() {
        Set<Integer> taken = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            taken.add(slots.take(SINK, i, true, false, 0));
        }

        assertThat(taken).hasSize(1000);
        assertThat(taken()).isEqualTo(1000);
        assertThat(slots.capacity()).isEqualTo(1024);
    }

    @Test
    void slotsThatWereGivenBackAreTakenAgainWithoutGrowth() {
        for (int i = 0; i < 10_000; i++) {
            slots.give(slots.take(SINK, i, true, false, 0));
        }

        assertThat(taken()).isZero();
        assertThat(slots.capacity()).isEqualTo(16);
    }

    @Test
    void aFreeSlotCannotBeGivenBack() {
        assertThatThrownBy(() -> slots.give(3)).isInstanceOf(IllegalStateException.class);
        assertThat(slots.isTaken(3)).isFalse();
        assertThat(slots.isTaken(-1)).isFalse();
        assertThat(slots.isTaken(1L << 40)).isFalse();
    }
}
