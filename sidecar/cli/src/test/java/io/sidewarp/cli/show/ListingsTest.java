// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.LowerLayerProtocol;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class ListingsTest {

    private static final ConnectionInfo WAITING =
            connection(7, Connection.State.WAITING_FOR_PEER, "posted work waits for the peer");

    @Test
    void textShowsTheStateAndWhatIsWaitedFor() {
        assertThat(Listings.CONNECTIONS.text(List.of(WAITING)))
                .contains("waiting-for-peer")
                .endsWith("connection 7: posted work waits for the peer\n");
    }

    @Test
    void jsonNamesWhatIsWaitedForOnlyWhereThereIsSomething() {
        ConnectionInfo other = connection(8, Connection.State.IDLE, "");

        assertThat(Listings.CONNECTIONS.json(List.of(WAITING, other)))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .satisfiesExactly(
                        waiting -> assertThat(waiting)
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .containsEntry("state", "waiting-for-peer")
                                .containsEntry("waiting", "posted work waits for the peer"),
                        idle -> assertThat(idle)
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .doesNotContainKey("waiting"));
    }

    private static ConnectionInfo connection(long id, Connection.State state, String waiting) {
        return new ConnectionInfo(
                id,
                "test",
                state,
                waiting,
                Optional.empty(),
                true,
                LowerLayerProtocol.TCP,
                "192.0.2.1",
                1234,
                "192.0.2.2",
                7471,
                0,
                0,
                1,
                0,
                1442,
                new ConnectionInfo.Agreement(
                        2, 1, false, true, false, false, 16, 16, OptionalInt.of(16), OptionalInt.empty()),
                new ConnectionInfo.Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }
}
