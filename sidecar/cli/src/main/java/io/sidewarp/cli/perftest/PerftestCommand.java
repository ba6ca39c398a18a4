// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.ListenFlags;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.client.Session;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp perftest}. */
@Command(
        name = "perftest",
        header = "Run a test of perftest against another iWARP endpoint.",
        description = {
            "Speaks to ib_write_bw, ib_read_bw, ib_send_bw and ib_write_lat of perftest, such as on Linux soft-iWARP or"
                    + " an RNIC, as their client, or with --listen as their server. Start them with -R (rdma_cm),"
                    + " -F, and the same -s, -n and -q. For two sidecars, \"sidewarp perf\" reports more.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp perftest write_bw --listen 18515    (and there: ib_write_bw -R -F this.example)",
            "  sidewarp perftest read_bw peer.example:18515 --size 4K --iterations 100",
            "                                               (and there: ib_read_bw -R -F -s 4096 -n 100)"
        })
public final class PerftestCommand extends SessionCommand {

    /** Maximum wait for a data connection. The server listens again for the data after some time. */
    private static final Duration DATA_PATIENCE = Duration.ofSeconds(5);

    @Parameters(index = "0", paramLabel = "TEST", description = "Test to run: ${COMPLETION-CANDIDATES}.")
    private PerftestKind kind;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "Where perftest runs as the server.")
    private Optional<HostPort> peer = Optional.empty();

    @Mixin
    private ListenFlags listening;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "Bytes of a message. Default, as in perftest: 64K, and 2 for latency.")
    private Optional<Long> size = Optional.empty();

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            defaultValue = "1000",
            description = "Messages of a connection (default: ${DEFAULT-VALUE}; perftest's is 5000 for writes).")
    private int iterations;

    @Option(
            names = {"-q", "--connections"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Connections for the data (default: ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = {"-d", "--depth"},
            paramLabel = "N",
            defaultValue = "64",
            description = "Messages in flight on a connection (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Override
    public Integer call() throws Exception {
        if (listening.address().isPresent() == peer.isPresent()) {
            throw wrongArguments("give either HOST:PORT or --listen [HOST:]PORT");
        }
        long octets = size.orElse(kind.latency ? 2L : 64L << 10);
        PerftestPlan plan =
                new PerftestPlan(kind, connections, depth, iterations, (int) Math.min(octets, Integer.MAX_VALUE));
        return inSession(session -> {
            if (listening.address().isPresent()) {
                return new Server(new PerftestServer(session, plan, flags()), out(), listening.once())
                        .run(session, listening.address().get(), flags());
            }
            PerftestResult result = measure(session, peer.orElseThrow(), plan);
            out().print(PerftestResult.FIGURES.text(List.of(result)));
            out().flush();
            return ExitCode.OK;
        });
    }

    private PerftestResult measure(Session session, HostPort to, PerftestPlan plan) {
        String server = "ib_" + kind + " -R";
        try (Mailbox control = Mailbox.connect(session, to, server, flags())) {
            // The client receives nothing.
            PerftestRun.Opener opener = (options, _) -> Connector.patiently(
                    () -> Connector.establish(session, options, connection -> {
                        Connector.open(session, to, server, connection);
                        return connection;
                    }),
                    DATA_PATIENCE);
            return new PerftestRun(session, plan, flags(), true, opener).run(control);
        }
    }
}
