// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.client.Session;
import java.time.Duration;

/** Runs a test against {@code ib_write_bw -R} and similar programs. */
final class PerftestClient {

    /** Maximum wait for the data connection. The server listens again for the data after some time. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Session session;
    private final HostPort peer;
    private final ConnectionFlags flags;

    PerftestClient(Session session, HostPort peer, ConnectionFlags flags) {
        this.session = session;
        this.peer = peer;
        this.flags = flags;
    }

    PerftestResult run(PerftestPlan plan) {
        try (Mailbox control = Mailbox.connect(session, peer, server(plan), flags)) {
            return new PerftestRun(
                            session,
                            plan,
                            flags,
                            true,
                            // The client receives nothing.
                            (options, begin) -> Connector.open(session, peer, server(plan), options, PATIENCE))
                    .run(control);
        }
    }

    private static String server(PerftestPlan plan) {
        return "ib_" + plan.kind() + " -R";
    }
}
