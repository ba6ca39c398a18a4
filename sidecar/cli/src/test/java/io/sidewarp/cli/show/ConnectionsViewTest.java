// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionState;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class ConnectionsViewTest {

    private static final Connection WAITING = Connection.newBuilder()
            .setId(7)
            .setState(ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER)
            .setWaiting("posted work waits for the peer")
            .build();

    @Test
    void textShowsTheStateAndWhatIsWaitedFor() {
        assertThat(new ConnectionsView(List.of(WAITING)).text())
                .contains("waiting-for-peer")
                .endsWith("connection 7: posted work waits for the peer\n");
    }

    @Test
    void jsonNamesWhatIsWaitedForOnlyWhereThereIsSomething() {
        Connection other = Connection.newBuilder().setId(8).build();

        assertThat(new ConnectionsView(List.of(WAITING, other)).json())
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
