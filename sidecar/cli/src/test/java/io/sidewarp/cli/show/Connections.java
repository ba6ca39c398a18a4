// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.SecurityInUse;
import java.util.Optional;
import java.util.OptionalInt;

/** Connections for tests, with the peer 192.0.2.2:7471. */
final class Connections {

    private Connections() {}

    static ConnectionInfo of(long id, Connection.State state, String waiting) {
        return of(id, "test", state, waiting, "192.0.2.2", 0, 0);
    }

    /** @param writes number of writes sent, of 1000 bytes each */
    static ConnectionInfo writing(long id, long writes, long bytesReceived) {
        return of(id, "test", Connection.State.ESTABLISHED, "", "192.0.2.2", writes, bytesReceived);
    }

    static ConnectionInfo of(
            long id,
            String session,
            Connection.State state,
            String waiting,
            String peer,
            long writes,
            long bytesReceived) {
        return new ConnectionInfo(
                id,
                session,
                state,
                waiting,
                Optional.empty(),
                true,
                LowerLayerProtocol.TCP,
                "192.0.2.1",
                1234,
                peer,
                7471,
                0,
                0,
                1,
                0,
                1442,
                new ConnectionInfo.Agreement(
                        2,
                        1,
                        false,
                        true,
                        false,
                        false,
                        16,
                        16,
                        OptionalInt.of(16),
                        OptionalInt.empty(),
                        SecurityInUse.PLAIN,
                        Optional.empty()),
                new ConnectionInfo.Counters(1000 * writes, bytesReceived, writes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }
}
