// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The active end of tests. */
public final class PerfClient {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration DRAIN_PATIENCE = Duration.ofSeconds(60);
    private static final Duration PROGRESS_PERIOD = Duration.ofMillis(500);

    /** Longer than any test. */
    private static final Duration FOREVER = Duration.ofDays(365);

    private final Session session;
    private final HostPort peer;
    private final ConnectionFlags flags;
    private final ProcessCpu sidecar;
    private final QueueOptions queueOptions;

    /**
     * Reports about parts of a test while it runs.
     *
     * @param period length of each part
     */
    record Reports(Duration period, Consumer<PerfInterval> taker) {}

    /**
     * @param sidecar the process whose CPU time is reported
     * @param queueOptions path of the work, and how threads wait for completions and for RDMA Writes of a latency test
     */
    public PerfClient(
            Session session, HostPort peer, ConnectionFlags flags, ProcessCpu sidecar, QueueOptions queueOptions) {
        this.session = session;
        this.peer = peer;
        this.flags = flags;
        this.sidecar = sidecar;
        this.queueOptions = queueOptions;
    }

    /**
     * Runs one test.
     *
     * @param warmup time before the measurement
     * @param time length of the measurement
     */
    public PerfResult run(PerfPlan plan, Duration warmup, Duration time, ProgressLine progress) {
        return run(plan, warmup, time, progress, Optional.empty());
    }

    /**
     * Runs one test, and reports about it meanwhile.
     *
     * @param warmup time before the measurement
     * @param time length of the measurement
     * @param reports takes the figures of each interval of the measurement
     */
    PerfResult run(PerfPlan plan, Duration warmup, Duration time, ProgressLine progress, Optional<Reports> reports) {
        try (Channel<PerfMessage> control =
                        Channel.connect(session, peer, new Hello(Service.PERF), flags, PerfMessage::decode);
                PerfMemory memory = PerfMemory.create(session, plan)) {
            if (plan.operation() != Operation.READ && !plan.latency()) {
                memory.fill();
            }
            control.send(new PerfMessage.Setup(plan, memory.address()));
            PerfMessage.Ready ready = control.receive(PATIENCE, PerfMessage.Ready.class);
            List<DataLink> links = new ArrayList<>();
            try {
                for (int index = 0; index < plan.connections(); index++) {
                    links.add(DataLink.connect(session, peer, flags, memory, ready, index, queueOptions));
                }
                return measure(control, memory, links, warmup, time, progress, reports);
            } finally {
                links.forEach(DataLink::close);
            }
        }
    }

    private PerfResult measure(
            Channel<PerfMessage> control,
            PerfMemory memory,
            List<DataLink> links,
            Duration warmup,
            Duration time,
            ProgressLine progress,
            Optional<Reports> reports) {
        PerfPlan plan = memory.plan();
        Reports shown = new Reports(
                progress.isVisible() ? PROGRESS_PERIOD : FOREVER, interval -> progress.update(interval.progress()));
        links.forEach(link -> link.end().start());
        await(links, warmup, plan, shown);
        control.send(new PerfMessage.Begin());
        control.receive(PATIENCE, PerfMessage.Begin.class);
        OptionalLong processAtBegin = ProcessCpu.own().nanos();
        OptionalLong sidecarAtBegin = sidecar.nanos();
        links.forEach(link -> link.end().record(true));
        long messagesAtBegin = messages(links);
        long begin = System.nanoTime();

        progress.clear();
        await(links, time, plan, reports.orElse(shown));

        links.forEach(link -> link.end().record(false));
        // A Write or a Send is complete when it is handed over. Counts only messages that have arrived, and the time
        // until then.
        stop(links);
        long messages = messages(links) - messagesAtBegin;
        long nanos = System.nanoTime() - begin;
        long processNanos = ProcessCpu.own().since(processAtBegin);
        long sidecarNanos = sidecar.since(sidecarAtBegin);
        control.send(new PerfMessage.End());
        control.receive(PATIENCE, PerfMessage.End.class);

        // Asks at the end, because TCP's segments, and with them MULPDU, grow after the set-up.
        ConnectionInfo connection = links.getFirst().connection().info();
        control.send(new PerfMessage.Done(messages(links)));
        PerfMessage.Report report = control.receive(PATIENCE, PerfMessage.Report.class);
        Histogram latencies = new Histogram();
        links.forEach(link -> latencies.add(link.end().latencies()));
        progress.clear();
        verify(memory, links, report);
        return new PerfResult(
                plan,
                connection,
                nanos,
                messages,
                latencies,
                new PerfResult.CpuNanos(processNanos, sidecarNanos, report.processNanos(), report.sidecarNanos()));
    }

    private static void verify(PerfMemory memory, List<DataLink> links, PerfMessage.Report report) {
        PerfPlan plan = memory.plan();
        boolean readHere = plan.operation() == Operation.READ && !plan.latency();
        long wrong = readHere ? memory.countWrong(plan.slots()) : report.wrong();
        if (wrong > 0) {
            throw new Failure(
                    ExitCode.FAILED,
                    wrong + " messages in " + (readHere ? "this" : "the peer's")
                            + " memory are wrong: data corruption");
        }
        long sent = messages(links);
        if (plan.operation() == Operation.SEND && report.received() < sent) {
            throw new Failure(
                    ExitCode.FAILED, sent + " messages were sent, but only " + report.received() + " arrived");
        }
    }

    /** Lets the test run for some time, or until a connection fails. */
    private static void await(List<DataLink> links, Duration time, PerfPlan plan, Reports reports) {
        CompletableFuture<?> failed = CompletableFuture.anyOf(
                links.stream().map(link -> link.end().finished()).toArray(CompletableFuture<?>[]::new));
        long begin = System.nanoTime();
        long end = time.toNanos();
        long from = 0;
        long messages = messages(links);
        while (from < end) {
            // Intervals begin at multiples of the period, however late their reports are.
            long until = Math.min(
                    end,
                    (from / reports.period().toNanos() + 1) * reports.period().toNanos());
            try {
                failed.get(Math.max(0, until - (System.nanoTime() - begin)), TimeUnit.NANOSECONDS);
                throw new Failure(ExitCode.INTERNAL, "a connection ended its test early");
            } catch (TimeoutException e) {
                long now = System.nanoTime() - begin;
                long latest = messages(links);
                reports.taker().accept(new PerfInterval(plan, from, now, Math.max(0, end - now), latest - messages));
                messages = latest;
                from = now;
            } catch (InterruptedException e) {
                throw Failure.interrupted();
            } catch (ExecutionException e) {
                throw Failures.of(e);
            }
        }
    }

    /** Ends the traffic. Returns when all messages have arrived. */
    private static void stop(List<DataLink> links) {
        links.forEach(link -> link.end().stop());
        List<CompletableFuture<Void>> arrivals = links.stream()
                .map(link -> link.end().finished().thenCompose(ignored -> link.fence()))
                .toList();
        String late = "messages in flight did not complete within " + DRAIN_PATIENCE.toSeconds() + " seconds";
        arrivals.forEach(arrival -> Failures.await(arrival, DRAIN_PATIENCE, late));
        Interruption.check();
    }

    private static long messages(List<DataLink> links) {
        return links.stream().mapToLong(link -> link.end().messages()).sum();
    }
}
