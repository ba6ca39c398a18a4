// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.v1.EventsLost;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegionFault;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventStreamTest {

    private static final int DROPPED = 3;

    private final PlayedCall<OpenSessionResponse> client = new PlayedCall<>();
    private final List<OpenSessionResponse> dropped = new ArrayList<>();
    private final EventStream stream = new EventStream(client, dropped::add);

    @Test
    void streamDropsOldestEventsBeyondTheBound() {
        tell(0, EventStream.BOUND + 10);

        assertThat(dropped).hasSize(10).startsWith(event(0));
    }

    @Test
    void readyClientGetsEveryEvent() {
        client.setReady();

        tell(0, 2);

        assertThat(client.told()).containsExactly(event(0), event(1));
        assertThat(dropped).isEmpty();
    }

    @Test
    void clientGetsTheNumberOfDroppedEventsBeforeTheKeptEvents() {
        tell(0, EventStream.BOUND + DROPPED);
        client.setReady();

        stream.flush();

        assertThat(dropped).hasSize(DROPPED);
        assertThat(client.told())
                .hasSize(1 + EventStream.BOUND)
                .startsWith(lost(DROPPED), event(DROPPED), event(DROPPED + 1));
    }

    @Test
    void streamReportsDroppedEventsOnce() {
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
