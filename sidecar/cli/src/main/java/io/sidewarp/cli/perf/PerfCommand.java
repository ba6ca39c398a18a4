// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import io.sidewarp.cli.wire.ListenFlags;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.WaitStrategy;
import io.sidewarp.common.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp perf}. */
@Command(
        name = "perf",
        header = "Measure throughput, message rate and latency between two pods.",
        description = {
            "Like ib_write_bw and ib_write_lat, for RDMA Write, RDMA Read and Send. Start the server with --listen."
                    + " Payload moves between the memory of this process and that of the server.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp perf --listen 7471",
            "  sidewarp perf write peer.example:7471 --size 1M --depth 8",
            "  sidewarp perf write peer.example:7471 --time 60s --interval 1s",
            "  sidewarp perf read peer.example:7471 --size 8,4K,64K,1M --json",
            "  sidewarp perf write peer.example:7471 --size 8 --latency"
        })
public final class PerfCommand extends SessionCommand {

    /** Maximum number of messages for one completion, unless the caller wants more. */
    private static final int MOST_UNSIGNALED = 64;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "write|read|send",
            description = "Operation to measure: ${COMPLETION-CANDIDATES}.")
    private Optional<Operation> operation = Optional.empty();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "Where \"sidewarp perf --listen\" runs.")
    private Optional<HostPort> peer = Optional.empty();

    @Mixin
    private ListenFlags listening;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "64K",
            converter = Sizes.class,
            description = "Bytes of a message, or several for one test each (default: ${DEFAULT-VALUE}).")
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = {"-d", "--depth"},
            paramLabel = "N",
            defaultValue = "64",
            description = "Messages in flight on a connection (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = Times.class,
            description = "Time of a measurement (default: ${DEFAULT-VALUE}).")
    private Duration time;

    @Option(
            names = "--warmup",
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = Times.class,
            description = "Time before a measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "TIME",
            converter = Times.class,
            description = "Print the rate of each interval of this length during the measurement (like iperf3 -i)."
                    + " Default: only the result.")
    private Optional<Duration> interval = Optional.empty();

    @Option(
            names = {"-c", "--connections"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Connections at the same time (default: ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--signal",
            paramLabel = "N",
            defaultValue = "0",
            description = "Ask for one completion for every N messages. The depth must be a multiple of N. Default:"
                    + " half of the depth, but at most 64.")
    private int signal;

    @Option(
            names = {"-l", "--latency"},
            description = "Send one message at a time. Measure half of the round trip of a write or a send, and the"
                    + " time to the completion of a read.")
    private boolean latency;

    @Option(
            names = "--queue",
            paramLabel = "any|rings|grpc",
            defaultValue = "any",
            description =
                    "How work reaches this side's sidecar: by rings in shared memory, or by its gRPC API. Default: rings"
                            + " where they are possible.")
    private QueuePath queue = QueuePath.ANY;

    @Option(
            names = "--wait",
            paramLabel = "spin|yield|adaptive|sleep",
            defaultValue = "adaptive",
            description =
                    "How threads wait for completions in rings, and for an RDMA Write in --latency. spin keeps a processor"
                            + " busy. yield shares it with programs that yield too. sleep waits for the kernel, and is"
                            + " best beside programs that compute. adaptive spins, yields and sleeps, in this order. Give"
                            + " spin and yield at both ends. Default: adaptive.")
    private WaitStrategy wait = WaitStrategy.ADAPTIVE;

    @Option(
            names = "--sidecar-pid",
            paramLabel = "PID",
            defaultValue = "0",
            description = "Process of this side's sidecar, for its CPU time. Default: the process that listens at"
                    + " --api, if that is a Unix socket.")
    private long sidecarPid;

    @Option(names = "--json", description = "Print one JSON object per test, as docs/cli.md describes it.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        if (listening.address().isPresent() == operation.isPresent() || operation.isPresent() != peer.isPresent()) {
            throw wrongArguments("give either write, read or send and HOST:PORT, or --listen [HOST:]PORT");
        }
        if (!time.isPositive()) {
            throw wrongArguments("--time must be more than 0");
        }
        if (interval.filter(Duration::isZero).isPresent()) {
            throw wrongArguments("--interval must be more than 0");
        }
        if (signal < 0) {
            throw wrongArguments("--signal must be 0 (the default) or more");
        }
        List<PerfPlan> plans = sizes.stream().flatMap(this::plan).toList();
        QueueOptions queueOptions = QueueOptions.defaults().withPath(queue).withWaitStrategy(wait);
        ProcessCpu sidecar = new ProcessCpu(sidecarPid != 0 ? sidecarPid : SocketPeer.pid(target()));
        return inSession(session -> {
            if (listening.address().isPresent()) {
                PerfServer server = new PerfServer(session, flags(), sidecar, queueOptions);
                return Server.greeted(Service.PERF, server.handlers(), out(), listening.once())
                        .run(session, listening.address().get(), flags());
            }
            measure(new PerfClient(session, peer.orElseThrow(), flags(), sidecar, queueOptions), plans);
            return ExitCode.OK;
        });
    }

    private void measure(PerfClient client, List<PerfPlan> plans) {
        Listing<PerfResult> listing = latency ? PerfResult.LATENCY : PerfResult.THROUGHPUT;
        List<PerfResult> results = new ArrayList<>();
        Optional<PerfClient.Reports> reports = interval.map(period -> new PerfClient.Reports(period, this::report));
        try (ProgressLine progress = ProgressLine.onTerminal()) {
            for (PerfPlan plan : plans) {
                PerfResult result = client.run(plan, warmup, time, progress, reports);
                results.add(result);
                if (json) {
                    out().println(Json.write(listing.json(result)));
                    out().flush();
                }
            }
        }
        if (!json) {
            out().print(listing.text(results));
            out().flush();
        }
    }

    private void report(PerfInterval part) {
        out().println(json ? Json.write(PerfInterval.LISTING.json(part)) : part.line());
        out().flush();
    }

    /** Returns the plan for a size, or nothing for a server. */
    private Stream<PerfPlan> plan(long size) {
        int messages = latency ? 1 : depth;
        int group = latency ? 1 : signal > 0 ? signal : defaultSignal();
        long seed = ThreadLocalRandom.current().nextLong();
        return operation.stream().map(what -> new PerfPlan(what, latency, connections, messages, group, size, seed));
    }

    /**
     * Returns the default number of messages for one completion. A completion, and the work after it, cost more than
     * moving most messages. While one half is in flight, the other half is posted again.
     */
    private int defaultSignal() {
        int group = Math.min(MOST_UNSIGNALED, depth / 2);
        while (group > 1 && depth % group != 0) {
            group--;
        }
        return Math.max(1, group);
    }
}
