// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.perf.Operation;
import io.sidewarp.cli.wire.ConnectionEnd;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** One test from its first message to its last. Both sides do the same steps. */
final class PerftestRun {

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);

    private final Session session;
    private final PerftestPlan plan;
    private final ConnectionFlags flags;
    private final boolean client;
    private final Opener opener;
    private final List<Connection> connections = new ArrayList<>();

    /**
     * @param client whether this side connects and measures
     * @param opener opens a connection for data
     */
    PerftestRun(Session session, PerftestPlan plan, ConnectionFlags flags, boolean client, Opener opener) {
        this.session = session;
        this.plan = plan;
        this.flags = flags;
        this.client = client;
        this.opener = opener;
    }

    /** Opens connections for data. */
    interface Opener {

        /** @param begin posts the requests that must be posted before the peer can send */
        Connection open(ConnectionOptions options, Consumer<Connection> begin);
    }

    /** @param control the connection through which the sides talk */
    PerftestResult run(Mailbox control) {
        Exchange exchange = new Exchange(control, client);
        int page = exchange.begin();
        try (Buffers buffers = new Buffers(session, plan, page);
                WorkQueue queue = DataPhase.openQueue(session, plan)) {
            try {
                exchange.meet(Destination.NONE);
                for (int i = 0; i < plan.connections(); i++) {
                    connections.add(open(buffers, queue, i));
                }
                exchange.meet(Destination.NONE);
                return transfer(exchange, buffers, queue);
            } finally {
                connections.forEach(this::close);
            }
        }
    }

    private PerftestResult transfer(Exchange exchange, Buffers buffers, WorkQueue queue) {
        int reads = connections.getFirst().established().agreed().ird();
        List<Destination> peers = destinations(exchange, buffers, reads);
        destinations(exchange, buffers, reads);
        DataPhase data = new DataPhase(plan, buffers, connections, queue);
        Destination mine = buffers.destination(0, reads);
        for (int i = 0; i < plan.kind().meetings; i++) {
            exchange.meet(mine);
        }
        long start = System.nanoTime();
        move(data, peers);
        PerftestResult result =
                new PerftestResult(plan, System.nanoTime() - start, data.latencies(), Exchange.Report.NONE);
        if (plan.kind().reports) {
            exchange.meet(mine);
            result = result.with(exchange.report(result.report()));
        }
        if (plan.kind().farewell) {
            exchange.meet(mine);
        }
        return result;
    }

    /**
     * Exchanges the destinations of all connections. Perftest does this twice, before and after the step that connects
     * queue pairs without rdma_cm.
     */
    private List<Destination> destinations(Exchange exchange, Buffers buffers, int reads) {
        List<Destination> peers = new ArrayList<>();
        for (int i = 0; i < plan.connections(); i++) {
            peers.add(exchange.meet(buffers.destination(i, reads)));
        }
        return peers;
    }

    private void move(DataPhase data, List<Destination> peers) {
        if (plan.kind().latency) {
            data.pingPong(peers.getFirst(), !client);
        } else if (client) {
            data.stream(peers);
        } else if (plan.kind().operation == Operation.SEND) {
            data.receive(peers);
        }
    }

    private Connection open(Buffers buffers, WorkQueue queue, int index) {
        return opener.open(
                options(),
                connection -> queue.batch(_ -> {
                    WorkRequest receive = WorkRequest.receive(connection, buffers.offeredSlice(index));
                    for (int i = 0; !client && i < plan.receives(); i++) {
                        Connector.postReceive(queue, index, receive);
                    }
                }));
    }

    private ConnectionOptions options() {
        ConnectionOptions.Builder options = flags.options().sendQueue(plan.depth());
        if (plan.kind().operation == Operation.READ && !client) {
            options.ird(session.limits().maxIrd());
        }
        if (!client && plan.receives() > 0) {
            options.receiveQueue(plan.receives());
        }
        return options.build();
    }

    /**
     * Ends a connection. The server ends the connections, and the client waits for that, because perftest expects it.
     */
    private void close(Connection connection) {
        if (client) {
            try {
                connection.closed().get(CLOSE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                // The session is lost, or the connection ends below.
            }
        }
        ConnectionEnd.close(connection);
    }
}
