// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.UnreadOctets;
import io.sidewarp.v1.EventsLost;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegionFault;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventStreamTest {

    private static final int DROPPED = 3;

    private final PlayedCall<OpenSessionResponse> client = new PlayedCall<>();
    private final UnreadOctets octets = new UnreadOctets();
    private final List<OpenSessionResponse> dropped = new ArrayList<>();
    private final EventStream stream = new EventStream(client, octets, dropped::add);

    @Test
    void eventsThatAreNotReadCountUntilTheyAre() {
        tell(0, 200);

        assertThat(octets.held()).isGreaterThan(200L * EventStream.OVERHEAD - EventStream.UNCOUNTED);
        assertThat(dropped).isEmpty();
        client.setReady();
        stream.flush();
        assertThat(client.told()).hasSize(200);
        assertThat(octets.held()).isZero();
    }

    @Test
    void aFewEventsWaitWithoutBeingCounted() {
        octets.limit(0);

        tell(0, 10);

        assertThat(dropped).isEmpty();
    }

    @Test
    void whatMayNotWaitTakesThePlaceOfTheOldest() {
        octets.limit(50_000);

        tell(0, 1000);

        assertThat(octets.held()).isBetween(49_000L, 50_000L);
        assertThat(dropped).hasSizeBetween(700, 900);
        client.setReady();
        stream.flush();
        assertThat(client.told()).hasSize(1 + 1000 - dropped.size()).startsWith(lost(dropped.size()));
        assertThat(client.told().getLast()).isEqualTo(event(999));
        assertThat(octets.held()).isZero();
    }

    @Test
    void noMoreThanTheBoundWait() {
        tell(0, EventStream.BOUND + 10);

        assertThat(dropped).hasSize(10).startsWith(event(0));
    }

    @Test
    void whatWaitedCountsNoMoreWhenTheClientIsGone() {
        tell(0, 200);

        stream.cancelled();

        assertThat(octets.held()).isZero();
    }

    @Test
    void aClientThatReadsLosesNothing() {
        client.setReady();

        tell(0, 2);

        assertThat(client.told()).containsExactly(event(0), event(1));
        assertThat(dropped).isEmpty();
    }

    @Test
    void inThePlaceOfTheEventsThatWereDroppedIsTheirNumber() {
        tell(0, EventStream.BOUND + DROPPED);
        client.setReady();

        stream.flush();

        assertThat(dropped).hasSize(DROPPED);
        assertThat(client.told())
                .hasSize(1 + EventStream.BOUND)
                .startsWith(lost(DROPPED), event(DROPPED), event(DROPPED + 1));
    }

    @Test
    void whatWasDroppedIsToldOnce() {
        tell(0, EventStream.BOUND + DROPPED);
        client.setReady();
        stream.flush();
        client.told().clear();

        stream.event(event(1));

        assertThat(client.told()).containsExactly(event(1));
    }

    private void tell(int from, int to) {
        for (int i = from; i < to; i++) {
            stream.event(event(i));
        }
    }

    private static OpenSessionResponse lost(int count) {
        return OpenSessionResponse.newBuilder()
                .setEventsLost(EventsLost.newBuilder().setCount(count))
                .build();
    }

    private static OpenSessionResponse event(int number) {
        return OpenSessionResponse.newBuilder()
                .setRegionFault(RegionFault.newBuilder().setRegion(number + 1L))
                .build();
    }
}
