// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class ListingsTest {

    private static final ConnectionInfo WAITING =
            Connections.of(7, Connection.State.WAITING_FOR_PEER, "posted work waits for the peer");

    @Test
    void textShowsTheStateAndWhatIsWaitedFor() {
        assertThat(Listings.CONNECTIONS.text(List.of(WAITING)))
                .contains("waiting-for-peer")
                .endsWith("connection 7: posted work waits for the peer\n");
    }

    @Test
    void jsonNamesWhatIsWaitedForOnlyWhereThereIsSomething() {
        ConnectionInfo other = Connections.of(8, Connection.State.IDLE, "");

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
}
