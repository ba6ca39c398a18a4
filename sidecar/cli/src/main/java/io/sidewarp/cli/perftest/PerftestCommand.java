// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.ListenFlags;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

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
public final class PerftestCommand implements Callable<Integer> {

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectionFlags flags;

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
    public Integer call() {
        if (listening.address().isPresent() == peer.isPresent()) {
            throw new ParameterException(spec.commandLine(), "give either HOST:PORT or --listen [HOST:]PORT");
        }
        long octets = size.orElse(kind.latency() ? 2L : 64L << 10);
        PerftestPlan plan =
                new PerftestPlan(kind, connections, depth, iterations, (int) Math.min(octets, Integer.MAX_VALUE));
        try (SidewarpClient client = sidewarp.client();
                Session session = client.openSession("sidewarp perftest")) {
            PrintWriter out = spec.commandLine().getOut();
            if (listening.address().isPresent()) {
                return new Server(new PerftestServer(session, plan, flags), out, listening.once())
                        .run(session, listening.address().get(), flags);
            }
            Table table = new Table(PerftestResult.titles());
            table.row(new PerftestClient(session, peer.orElseThrow(), flags)
                    .run(plan)
                    .row());
            out.print(table.render());
            out.flush();
            return ExitCode.OK;
        }
    }
}
