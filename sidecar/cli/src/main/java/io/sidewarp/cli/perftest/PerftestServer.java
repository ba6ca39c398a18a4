// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Serves {@code ib_write_bw -R} and similar programs, one test after the other. */
final class PerftestServer implements Server.Handler {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Session session;
    private final PerftestPlan plan;
    private final ConnectionFlags flags;
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Requests for data connections of the running test. */
    private final BlockingQueue<IncomingConnection> requests = new LinkedBlockingQueue<>();

    PerftestServer(Session session, PerftestPlan plan, ConnectionFlags flags) {
        this.session = session;
        this.plan = plan;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request) {
        if (!busy.compareAndSet(false, true)) {
            requests.add(request);
            return "";
        }
        try (Mailbox control = Mailbox.accept(session, request, flags)) {
            return new PerftestRun(session, plan, flags, false, this::accept)
                    .run(control)
                    .served();
        } finally {
            requests.forEach(left -> Server.reject(left, "the test is over"));
            requests.clear();
            busy.set(false);
        }
    }

    private Connection accept(ConnectionOptions options, Consumer<Connection> begin) {
        try {
            IncomingConnection request = requests.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (request == null) {
                throw new Failure(
                        ExitCode.TEMPORARY, "the peer made no connection for its data: give both sides the same -q");
            }
            return Connector.establish(session, options, connection -> {
                begin.accept(connection);
                return request.accept(connection);
            });
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }
}
