// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import io.sidewarp.cli.wire.ListenFlags;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.Session;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp ping}. */
@Command(
        name = "ping",
        header = "Check that RDMA works between two pods, and how fast it answers.",
        description = {
            "Like rping: the client offers memory by a Send; the server reads it by RDMA Read, checks it, writes a"
                    + " pattern by RDMA Write, and the client checks that. Start the server with --listen.",
            "With --rping either end speaks to rping of librdmacm instead, on any other iWARP endpoint.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp ping --listen 7471",
            "  sidewarp ping peer.example:7471 --count 5 --size 64K",
            "  sidewarp ping --listen 7174 --rping      (and there: rping -c -a this.example -C 5 -V)"
        })
public final class PingCommand extends SessionCommand {

    private static final int MAX_CONNECTIONS = 1024;

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "Where \"sidewarp ping --listen\" runs.")
    private Optional<HostPort> peer = Optional.empty();

    @Mixin
    private ListenFlags listening;

    @Option(names = "--rping", description = "The peer is rping of librdmacm, such as on Linux soft-iWARP or an RNIC.")
    private boolean rping;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            defaultValue = "10",
            description = "Number of rounds; 0 for no limit (default: ${DEFAULT-VALUE}).")
    private int count;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            defaultValue = "64",
            converter = Sizes.class,
            description = "Bytes of a round in each direction (default: ${DEFAULT-VALUE}).")
    private long size;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = Times.class,
            description = "Time from the beginning of one round to the next (default: ${DEFAULT-VALUE}).")
    private Duration interval;

    @Option(
            names = "--connections",
            paramLabel = "N",
            defaultValue = "1",
            description = "Connections that ping at the same time (default: ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = {"-q", "--quiet"},
            description = "Print the summary only.")
    private boolean quiet;

    @Override
    public Integer call() throws Exception {
        if (listening.address().isPresent() == peer.isPresent()) {
            throw wrongArguments("give either HOST:PORT or --listen [HOST:]PORT");
        }
        int most = rping ? RpingServer.MAX_OCTETS : PingServer.MAX_OCTETS;
        if (size < 1 || size > most) {
            throw wrongArguments("--size must be 1 byte to " + Sizes.format(most));
        }
        if (count < 0) {
            throw wrongArguments("--count must be 0 (no limit) or more");
        }
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw wrongArguments("--connections must be 1 to " + MAX_CONNECTIONS);
        }
        return inSession(session -> listening.address().isPresent()
                ? server(session).run(session, listening.address().get(), flags())
                : ping(session, peer.orElseThrow(), out()));
    }

    private Server server(Session session) {
        return rping
                ? new Server(new RpingServer(session, flags()), out(), listening.once())
                : Server.greeted(
                        Service.PING, Map.of(Service.PING, new PingServer(session, flags())), out(), listening.once());
    }

    private Pinger pinger(Session session, HostPort to) {
        return rping
                ? new RpingClient(session, to, (int) size, flags())
                : new PingClient(session, to, (int) size, flags());
    }

    /** Describes the data on the wire. A device of the kernel does not report it. */
    private static String wire(ConnectionInfo link) {
        return link.mulpdu() == 0
                ? "by a device of the kernel"
                : "MULPDU " + link.mulpdu() + ", CRC " + (link.agreed().crc() ? "on" : "off");
    }

    private int ping(Session session, HostPort to, PrintWriter out) {
        Histogram times = new Histogram();
        int round = 0;
        try (Pingers clients = new Pingers(connections, () -> pinger(session, to))) {
            ConnectionInfo link = clients.first().connection().established();
            out.println("ping " + to + ": " + (connections > 1 ? connections + " connections, " : "")
                    + Sizes.format(size) + " each way, " + wire(link));
            while (count == 0 || round < count) {
                long next = System.nanoTime() + interval.toNanos();
                round++;
                long slowest = clients.round(round, times);
                if (!quiet) {
                    out.println("round " + round + ": read and written, verified, " + Times.format(slowest));
                }
                if (out.checkError()) {
                    // The rounds may have no end of their own.
                    throw Failure.noOutput();
                }
                if (round != count) {
                    Interruption.sleep(Duration.ofNanos(next - System.nanoTime()));
                }
            }
        } finally {
            summarize(out, to, (long) round * connections, times);
        }
        return ExitCode.OK;
    }

    private static void summarize(PrintWriter out, HostPort to, long rounds, Histogram times) {
        if (times.count() == 0) {
            return;
        }
        out.println(to + ": " + times.count() + " of " + rounds + " rounds good; min " + Times.format(times.min())
                + ", mean " + Times.format(Math.round(times.mean())) + ", p99 " + Times.format(times.percentile(99))
                + ", max "
                + Times.format(times.max()));
        out.flush();
    }
}
