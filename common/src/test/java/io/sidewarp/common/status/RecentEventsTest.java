// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentEventsTest {

    private Instant now = Instant.EPOCH;
    private final RecentEvents<String> events = new RecentEvents<>(() -> now);

    @Test
    void equalEventsAreCountedAndTheNewestComesFirst() {
        events.add("a");
        events.add("b");
        now = now.plusSeconds(1);
        events.add("a");

        assertThat(events.list())
                .containsExactly(
                        new RecentEvents.Entry<>("a", 2, now), new RecentEvents.Entry<>("b", 1, Instant.EPOCH));
    }

    @Test
    void newEventTakesThePlaceOfTheOldest() {
        for (int i = 0; i <= RecentEvents.CAPACITY; i++) {
            events.add("event " + i);
        }

        assertThat(names()).hasSize(RecentEvents.CAPACITY).doesNotContain("event 0");
    }

    @Test
    void oldEventIsForgottenAndItsCountBeginsAgain() {
        events.add("a");
        now = now.plus(RecentEvents.AGE);
        assertThat(names()).containsExactly("a");

        now = now.plusMillis(1);
        events.add("a");
        assertThat(events.list()).containsExactly(new RecentEvents.Entry<>("a", 1, now));

        now = now.plus(RecentEvents.AGE).plusMillis(1);
        assertThat(names()).isEmpty();
    }

    private List<String> names() {
        return events.list().stream().map(RecentEvents.Entry::event).toList();
    }
}
